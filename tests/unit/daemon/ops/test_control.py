"""The control socket: who may bind it, what it answers, and that a refresh is not lost or fought over."""

import asyncio
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from syncret.config.meta import ObjectRef
from syncret.config.settings import OwnIdentity
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.ops.bind_errors import CannotListen
from syncret.daemon.ops.control import control_service, listen_at
from syncret.daemon.ops.view import View
from tests.unit.daemon.ops.objects import CANARY, Apply, external_secret, named, serving, store


async def ask(view: View, method: str, path: str) -> tuple[int, Any]:
    connector = aiohttp.UnixConnector(view.settings.socket)
    async with (
        aiohttp.ClientSession(connector=connector) as client,
        client.request(method, f"http://syncret{path}") as response,
    ):
        text = await response.text()
        assert CANARY not in text
        return response.status, json.loads(text)


def mode_of(path: str) -> int | None:
    return Path(path).stat().st_mode if Path(path).exists() else None


def in_the_way(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("mine")


async def test_the_socket_is_for_its_owner_alone_and_goes_with_the_daemon(view: View) -> None:
    async with serving(control_service, view):
        mode = mode_of(view.settings.socket)
        assert mode is not None
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
    assert mode_of(view.settings.socket) is None


async def test_without_a_path_nothing_is_served(view: View) -> None:
    view.settings = msgspec.structs.replace(view.settings, socket="")
    async with serving(control_service, view):
        pass


async def test_the_socket_of_a_dead_process_is_replaced(view: View) -> None:
    path = Path(view.settings.socket)
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    async with serving(control_service, view):
        assert (await ask(view, "GET", "/status"))[0] == 200


async def test_a_live_one_is_refused_and_left_alone(view: View) -> None:
    async with serving(control_service, view):
        with pytest.raises(CannotListen, match="another daemon listens there") as caught:
            async with serving(control_service, view):
                pass
        assert "--socket" in caught.value.hint
        assert (await ask(view, "GET", "/status"))[0] == 200


async def test_one_that_begins_counts_as_live(view: View) -> None:
    async with control_service(view.settings):
        with pytest.raises(CannotListen, match="another daemon listens there"):
            async with control_service(view.settings):
                pass


async def test_a_file_is_not_removed(view: View) -> None:
    in_the_way(Path(view.settings.socket))
    with pytest.raises(CannotListen, match="is not a socket"):
        async with serving(control_service, view):
            pass
    mode = mode_of(view.settings.socket)
    assert mode is not None
    assert stat.S_ISREG(mode)


async def test_a_folder_in_which_others_could_replace_the_socket_is_refused(view: View) -> None:
    folder = Path(view.settings.socket).parent
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(CannotListen, match=f"the folder {folder} may be written to by everyone") as caught:
        async with serving(control_service, view):
            pass
    assert f"chmod o-w {folder}" in caught.value.hint
    assert "--socket" in caught.value.hint


def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(CannotListen, match="is not a socket"):
        listen_at(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_stale_socket_of_another_user_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    os.chown(path, 12345, 12345)
    with pytest.raises(CannotListen, match=r"belongs to another user \(uid 12345\)"):
        listen_at(path)
    assert path.exists()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param(
            "/proc/nowhere/control.sock", "/proc/nowhere/control.sock: No such file", id="no-folder"
        ),
        pytest.param("/tmp/" + "x" * 120, "longer than 107 bytes", id="too-long"),
    ],
)
async def test_paths_that_cannot_be_used(view: View, path: str, message: str) -> None:
    view.settings = msgspec.structs.replace(view.settings, socket=path)
    with pytest.raises(CannotListen, match=message):
        async with serving(control_service, view):
            pass


async def test_explain(view: View, apply: Apply) -> None:
    await apply(store(database=CANARY), external_secret())
    async with serving(control_service, view):
        code, told = await ask(view, "GET", "/explain?kind=es&namespace=default&name=database")
    assert code == 200
    (key,) = told["keys"]
    assert (key["key"], key["source"], key["remoteKey"]) == ("password", "SecretStore/demo", "database")
    assert told["ready"] == "True"
    assert told["next"]["why"].startswith("refreshInterval 1h")
    assert told["lastError"] is None


@pytest.mark.parametrize(
    ("own", "note"),
    [
        pytest.param(OwnIdentity(), "it would be refused if manifests had several authors", id="open"),
        pytest.param(OwnIdentity(mode="strict"), "must not be sent to https://vault.example", id="strict"),
        pytest.param(
            OwnIdentity(receivers={"vault": ("vault.example",)}),
            "(allowed: ownIdentity.receivers.vault[0])",
            id="written",
        ),
    ],
)
async def test_explain_says_where_a_store_sends_the_own_identity(
    view: View, apply: Apply, own: OwnIdentity, note: str
) -> None:
    login = {"kubernetes": {"role": "r", "mountPath": "kubernetes"}}
    spec = {"provider": {"vault": {"server": "https://vault.example", "auth": login}}}
    view.settings = msgspec.structs.replace(view.settings, own_identity=own)
    await apply(named("SecretStore", "vault", {**spec, "controller": "another"}))
    async with serving(control_service, view):
        _, told = await ask(view, "GET", "/explain?kind=SecretStore&namespace=default&name=vault")
    assert [note in each for each in told["notes"]] == [True]


@pytest.mark.parametrize(
    "kind", ["ExternalSecret", "externalsecrets", "ES", "externalsecret.external-secrets.io"]
)
async def test_kinds_in_every_spelling(view: View, apply: Apply, kind: str) -> None:
    await apply(store(database=CANARY), external_secret())
    async with serving(control_service, view):
        assert (await ask(view, "GET", f"/explain?kind={kind}&namespace=default&name=database"))[0] == 200


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        pytest.param(
            "kind=ExternalSecrte&namespace=default&name=x",
            "there is no kind ExternalSecrte to ask about",
            "did you mean ExternalSecret?",
            id="kind",
        ),
        pytest.param(
            "kind=es&namespace=default&name=databse",
            "there is no ExternalSecret/default/databse",
            "did you mean database?",
            id="name",
        ),
        pytest.param(
            "kind=es&namespace=other&name=database",
            "there is no ExternalSecret/other/database",
            "there is one in namespace default: add -n",
            id="namespace",
        ),
    ],
)
async def test_unknown_objects(view: View, apply: Apply, query: str, message: str, hint: str) -> None:
    await apply(store(database=CANARY), external_secret())
    async with serving(control_service, view):
        assert await ask(view, "GET", f"/explain?{query}") == (404, {"message": message, "hint": hint})
        assert (await ask(view, "POST", f"/refresh?{query}"))[0] == 404


async def value_of(cluster: MemoryCluster, name: str = "database") -> str:
    stored = await cluster.get(ObjectRef("", "Secret", "default", name))
    assert stored is not None
    return str(stored.document["data"]["password"])


async def test_refresh_fetches_what_is_not_due(view: View, apply: Apply, cluster: MemoryCluster) -> None:
    await apply(store(database="one"), external_secret())
    before = await value_of(cluster)
    await apply(store(database="two"))
    assert await value_of(cluster) == before
    async with serving(control_service, view):
        answer = await ask(view, "POST", "/refresh?kind=es&namespace=default&name=database")
        await apply()
    assert answer == (200, {"object": "ExternalSecret/default/database", "message": "is refreshed now"})
    assert await value_of(cluster) != before
    stored = view.running.inventory.get(
        ObjectRef("external-secrets.io", "ExternalSecret", "default", "database")
    )
    assert stored is not None
    assert "annotations" not in stored.document["metadata"]


async def test_a_wish_outlives_a_failure(view: View, apply: Apply, cluster: MemoryCluster) -> None:
    await apply(store(database="one"), external_secret())
    before = await value_of(cluster)
    await apply(store(other="x"))
    async with serving(control_service, view):
        await ask(view, "POST", "/refresh?kind=es&namespace=default&name=database")
        await apply()
        assert len(view.running.engine.failing) == 1
        await apply(store(database="two"))
        view.running.engine.refresh(
            ObjectRef("external-secrets.io", "ExternalSecret", "default", "database")
        )  # the retry, which backoff would bring later
        await apply()
    assert await value_of(cluster) != before
    assert not view.running.engine.failing


async def test_what_is_made_once_is_not_made_again(view: View, apply: Apply) -> None:
    await apply(
        store(database="one"),
        external_secret("once", refreshPolicy="CreatedOnce"),
        external_secret("zero", refreshInterval="0s"),
    )
    async with serving(control_service, view):
        for name in ("once", "zero"):
            code, answer = await ask(view, "POST", f"/refresh?kind=es&namespace=default&name={name}")
            assert (code, answer["hint"]) == (409, "delete what it wrote, and it is made anew")


async def test_a_cluster_wide_one_refreshes_what_it_made(
    view: View, apply: Apply, cluster: MemoryCluster
) -> None:
    spec = external_secret()["spec"]
    await apply(
        store(database="one"),
        named(
            "ClusterExternalSecret",
            "all",
            {"externalSecretSpec": spec, "externalSecretName": "child", "namespaces": ["default"]},
        ),
    )
    before = await value_of(cluster, "child")
    await apply(store(database="two"))
    async with serving(control_service, view):
        answer = await ask(view, "POST", "/refresh?kind=ces&name=all")
        await apply()
    assert answer[1]["message"] == "1 ExternalSecret refreshed now"
    assert await value_of(cluster, "child") != before


async def test_stores_are_looked_at(view: View, apply: Apply) -> None:
    await apply(store(database="one"))
    async with serving(control_service, view):
        code, answer = await ask(view, "POST", "/refresh?kind=ss&namespace=default&name=demo")
    assert (code, answer["object"]) == (200, "SecretStore/default/demo")


async def test_only_post_changes_anything(view: View, apply: Apply) -> None:
    await apply(store(database="one"), external_secret())
    connector = aiohttp.UnixConnector(view.settings.socket)
    async with serving(control_service, view), aiohttp.ClientSession(connector=connector) as client:
        async with client.get("http://syncret/refresh?kind=es&namespace=default&name=database") as response:
            assert response.status == 405
        await asyncio.sleep(0)
