"""What the provider of OpenBao does other than Vault's, on a server that speaks the API of both."""

from typing import Any, Literal

import pytest

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import Writer
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.vault.spec import UserPass
from syncret.providers.openbao.client import OpenBaoClient
from syncret.providers.openbao.connection import open_store
from syncret.providers.openbao.spec import OpenBaoAppRole, OpenBaoAuth, OpenBaoSpec
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef
from syncret.providers.work import Work
from tests.support.opened import Given, context
from tests.support.servers.vault.running import ROOT_TOKEN, vault

pytestmark = pytest.mark.slow

AUTH = OpenBaoAuth(token_secret_ref=SecretKeySelector(name="login", key="token"))
GIVEN = Given(secrets={"login": {"token": ROOT_TOKEN.encode()}})
PASSWORD = SecretKeySelector(name="login", key="password")


def store(path: str, version: Literal["v1", "v2"] = "v2", auth: OpenBaoAuth = AUTH) -> OpenBaoSpec:
    return OpenBaoSpec(server=vault().url, path=path, version=version, auth=auth)


async def read(client: OpenBaoClient, ref: RemoteRef) -> bytes | None:
    found = (await client.fetch([ref.remote_key()])).get(ref.remote_key())
    if isinstance(found, SyncError):
        raise found
    value = None if found is None else client.value(found, ref, Work())
    return None if value is None else value.raw


@pytest.fixture
def mount() -> str:
    path = vault().mount(version="2")
    data: dict[str, Any] = {"a.b": "x", "deep": {"b": 1}}
    for key in ("db", "team/db", "team/web", "team/sub/db"):
        vault().write(f"{path}/data/{key}", data=data)
    return path


async def test_a_property_is_a_name_and_no_path(mount: str) -> None:
    async with open_store(store(mount), context(GIVEN)) as client:
        assert await read(client, RemoteRef("db", "a.b")) == b"x"
        assert await read(client, RemoteRef("db", "deep")) == b'{"b":1}'
        with pytest.raises(Malformed, match=r"deep\.b"):
            await read(client, RemoteRef("db", "deep.b"))


@pytest.mark.parametrize(
    ("engine", "version", "message"),
    [
        pytest.param("v1", "1", "do not support versioning", id="version 1 has none"),
        pytest.param("v2", "newest", "not a number", id="no number"),
    ],
)
async def test_versions_are_numbers_of_version_2(
    mount: str, engine: Literal["v1", "v2"], version: str, message: str
) -> None:
    async with open_store(store(mount, engine), context(GIVEN)) as client:
        with pytest.raises(Malformed, match=message):
            await read(client, RemoteRef("db", version=version))


async def test_a_key_never_repeats_the_mount(mount: str) -> None:
    async with open_store(store(mount), context(GIVEN)) as client:
        assert await client.fetch([RemoteKey(f"{mount}/db")]) == {}


async def test_finds_by_name_within_one_folder(mount: str) -> None:
    async with open_store(store(mount), context(GIVEN)) as client:
        assert list(await client.find(FindQuery(name=""), unpaced, Work())) == ["db"]
        assert sorted(await client.find(FindQuery(name="", path="team"), unpaced, Work())) == ["db", "web"]
        for query in (FindQuery(name="a", tags=(("a", "b"),)), FindQuery(path="team")):
            with pytest.raises(Malformed):
                await client.find(query, unpaced, Work())


async def test_it_cannot_write(mount: str) -> None:
    async with open_store(store(mount), context(GIVEN)) as client:
        assert not isinstance(client, Writer)


async def test_the_probe_looks_at_the_mount(mount: str) -> None:
    old = vault().mount(version="1")
    bare = vault().mount()
    for path, version in ((mount, "v2"), (old, "v1"), (bare, "v1")):
        async with open_store(store(path, version), context(GIVEN)) as client:  # type: ignore[arg-type]  # a table's columns
            assert await client.probe() == "ready"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        pytest.param("kv", "expected kv engine version 2 found version 1", id="another version"),
        pytest.param("leased-kv", 'expected mount type "kv" found "leased-kv"', id="another engine"),
    ],
)
async def test_the_probe_tells_what_is_mounted_instead(kind: str, message: str) -> None:
    async with open_store(store(vault().mount(kind)), context(GIVEN)) as client:
        with pytest.raises(Malformed, match=message):
            await client.probe()


async def test_a_mount_that_is_not_there_is_told() -> None:
    async with open_store(store("nowhere"), context(GIVEN)) as client:
        with pytest.raises(SyncError) as caught:
            await client.probe()

    assert caught.value.hint


async def test_logs_in_by_password_and_by_role(mount: str) -> None:
    policy = vault().policy(**{f"{mount}/*": "read"})
    users, roles = vault().login("userpass"), vault().login("approle")
    vault().write(f"auth/{users}/users/ada", password="correct horse", token_policies=[policy])
    vault().write(f"auth/{roles}/role/app", token_policies=[policy], role_id=f"app-{roles}")
    vault().write(f"auth/{roles}/role/app/custom-secret-id", secret_id="correct horse")
    given = Given(secrets={"login": {"password": b"correct horse", "role": f"app-{roles}".encode()}})
    for auth in (
        OpenBaoAuth(user_pass=UserPass(path=users, username="ada", secret_ref=PASSWORD)),
        OpenBaoAuth(app_role=OpenBaoAppRole(path=roles, role_id=f"app-{roles}", secret_ref=PASSWORD)),
        OpenBaoAuth(
            app_role=OpenBaoAppRole(
                path=roles, role_ref=SecretKeySelector(name="login", key="role"), secret_ref=PASSWORD
            )
        ),
    ):
        async with open_store(store(mount, auth=auth), context(given)) as client:
            assert await read(client, RemoteRef("db", "a.b")) == b"x"
