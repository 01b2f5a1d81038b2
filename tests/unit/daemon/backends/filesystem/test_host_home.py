import asyncio
import contextlib
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from syncret.config.errors import Severity
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.backends.contract import (
    BackendError,
    ChangeKind,
    Invalid,
    NotFound,
    Stored,
    TargetUnavailable,
)
from syncret.daemon.backends.filesystem.home import HostHome, HostSettings
from syncret.daemon.backends.filesystem.journal import OnRemoved
from syncret.daemon.backends.filesystem.reading import FileProblem
from syncret.daemon.backends.filesystem.state import State
from syncret.daemon.backends.filesystem.state_file import StateError, read_state
from syncret.daemon.backends.filesystem.tree import OutputSettings
from syncret.daemon.backends.memory.admission import admission_by
from syncret.providers.registry import Registry

REGISTRY = Registry()
VALUE = "hunter2-hunter2"
ES = ObjectRef("external-secrets.io", "ExternalSecret", "default", "app")
STORE = ObjectRef("external-secrets.io", "SecretStore", "default", "vault")
GIVEN = ObjectRef("", "Secret", "default", "given")
MADE = ObjectRef("", "Secret", "default", "made")
MAP = ObjectRef("", "ConfigMap", "default", "made")

ES_YAML = """apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app}
spec:
  refreshInterval: %s
  secretStoreRef: {name: vault}
  data: [{secretKey: a, remoteRef: {key: k}}]
"""
STORE_YAML = f"""apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: vault}}
spec: {{provider: {{fake: {{data: [{{key: k, value: {VALUE}}}]}}}}}}
"""
SECRET_YAML = f"""apiVersion: v1
kind: Secret
metadata: {{name: given, labels: {{a: b}}}}
stringData: {{user: anna, password: {VALUE}}}
"""

Opener = Callable[..., AbstractAsyncContextManager[HostHome]]


class Problems:
    """The last problems that were told."""

    def __init__(self) -> None:
        self.last: Sequence[FileProblem] = ()

    def __call__(self, problems: Sequence[FileProblem]) -> None:
        self.last = problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.last))


@pytest.fixture
def problems() -> Problems:
    return Problems()


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    folder = tmp_path / "manifests"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(tmp_path: Path, manifests: Path, problems: Problems) -> Opener:
    """Opens the home of a test; each opening is another life of it."""

    @asynccontextmanager
    async def home(on_removed: OnRemoved | None = None, **changes: object) -> AsyncGenerator[HostHome, None]:
        chosen: dict[str, Any] = {
            "manifests": [str(manifests)],
            "output_dir": str(tmp_path / "out"),
            "state_file": str(tmp_path / "state.db"),
            "output": OutputSettings(fsync=False),
            "debounce": 0.02,
            **changes,
        }
        async with HostHome(
            HostSettings(**chosen),
            catalog=REGISTRY,
            admission=admission_by(REGISTRY),
            now=lambda: 1767225600.0,
            on_problems=problems,
            on_removed=on_removed,
        ) as home:
            yield home

    return home


def encoded(**data: str) -> dict[str, str]:
    return {key: b64encode(value.encode()).decode() for key, value in data.items()}


def made(owner: Stored | None = None, **data: str) -> Document:
    metadata: Document = {"name": MADE.name, "namespace": MADE.namespace}
    if owner is not None:
        metadata["ownerReferences"] = [
            {"apiVersion": "external-secrets.io/v1", "kind": ES.kind, "name": ES.name, "uid": owner.uid}
        ]
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded(**data)}


async def existing(home: HostHome, ref: ObjectRef) -> Stored:
    stored = await home.get(ref)
    assert stored is not None
    return stored


async def data_of(home: HostHome, ref: ObjectRef) -> dict[str, str]:
    document = (await existing(home, ref)).document
    data: dict[str, str] = document.get("data", {})
    return data


def vanish(folder: Path, *, instead: bool = False) -> None:
    """Move a folder away; `instead`: and put an empty one in its place."""
    folder.rename(folder.with_name("aside"))
    if instead:
        folder.mkdir()


def tree(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def identity(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def is_anywhere(folder: Path, value: str) -> list[str]:
    """Files below a folder that hold a value, plain or in base64."""
    needles = (value.encode(), b64encode(value.encode()))
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    ]


# -------------------------------------------------------------------------------------------- written objects
async def test_a_secret_that_a_controller_creates_becomes_files(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        created = await home.create(made(user="anna", password=VALUE))
        assert created.document["data"] == encoded(user="anna", password=VALUE)
        assert files(tmp_path / "out") == {"default/made/user": "anna", "default/made/password": VALUE}
        assert await data_of(home, MADE) == encoded(user="anna", password=VALUE)
        await home.update(made(user="berta"))
        assert files(tmp_path / "out") == {"default/made/user": "berta"}
        await home.delete(MADE)
        assert files(tmp_path / "out") == {}
        assert not (tmp_path / "out/default/made").exists()


async def test_drift_of_files_is_what_a_controller_observes(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        before = await home.create(made(a="1", b="2"))
        (tmp_path / "out/default/made/a").write_text("edited")
        (tmp_path / "out/default/made/b").unlink()
        assert await data_of(home, MADE) == encoded(a="edited")
        repaired = await home.update(made(a="1", b="2"))
        assert repaired.resource_version != before.resource_version
        assert files(tmp_path / "out") == {"default/made/a": "1", "default/made/b": "2"}


async def test_files_that_are_gone_are_an_empty_secret(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        await home.create(made(a="1"))
        (tmp_path / "out/default/made").rename(tmp_path / "aside")
        assert await data_of(home, MADE) == {}
        await home.update(made(a="1"))
        assert files(tmp_path / "out") == {"default/made/a": "1"}


async def test_equal_content_is_no_write(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        created = await home.create(made(a="1"))
        before = identity(tmp_path / "out/default/made")
        assert (await home.update(made(a="1"))).resource_version == created.resource_version
        assert identity(tmp_path / "out/default/made") == before


async def test_other_objects_are_yaml_files(opened: Opener, tmp_path: Path) -> None:
    document: Document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "made", "namespace": "default", "labels": {"a": "b"}},
        "data": {"key": VALUE},
    }
    async with opened() as home:
        await home.create(document)
        assert "key: " + VALUE in files(tmp_path / "out")["default/ConfigMap_made.yaml"]
    assert is_anywhere(tmp_path, VALUE) == ["ConfigMap_made.yaml"]
    async with opened() as home:
        assert (await existing(home, MAP)).document["data"] == {"key": VALUE}
        await home.delete(MAP)
        assert files(tmp_path / "out") == {}


async def test_our_own_kinds_are_remembered_but_not_written_out(opened: Opener, tmp_path: Path) -> None:
    document: Document = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "child", "namespace": "default"},
        "spec": {
            "secretStoreRef": {"name": "vault"},
            "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
        },
    }
    async with opened() as home:
        child = await home.create(document)
    async with opened() as home:
        assert await existing(home, child.ref) == child
    assert files(tmp_path / "out") == {}


async def test_without_an_output_folder_outputs_are_in_memory(opened: Opener, tmp_path: Path) -> None:
    async with opened(output_dir=None, state_file=None) as home:
        await home.create(made(a=VALUE))
        assert await data_of(home, MADE) == encoded(a=VALUE)
    assert is_anywhere(tmp_path, VALUE) == []


@pytest.mark.parametrize("key", ["../../x", "a/b", "..", "a\0b"])
async def test_a_key_that_is_a_way_out_is_refused_whole(opened: Opener, tmp_path: Path, key: str) -> None:
    async with opened() as home:
        with pytest.raises(BackendError):
            await home.create({**made(), "data": encoded(**{"good": "1", key: "2"})})
        assert await home.get(MADE) is None
        assert files(tmp_path / "out") == {}
        await home.create(made(a="1"))


async def test_a_target_that_cannot_be_used_is_told_and_nothing_is_half_written(
    opened: Opener, tmp_path: Path
) -> None:
    async with opened() as home:
        (tmp_path / "out/default").mkdir()
        (tmp_path / "out/default/made").symlink_to(tmp_path)
        with pytest.raises(TargetUnavailable):
            await home.create(made(a="1"))
        assert await home.get(MADE) is None
        (tmp_path / "out/default/made").unlink()
        await home.create(made(a="1"))
    async with opened() as home:
        assert await data_of(home, MADE) == encoded(a="1")


@pytest.mark.parametrize("fsync", [True, False])
async def test_writes_to_one_object_do_not_mix(opened: Opener, tmp_path: Path, fsync: bool) -> None:  # noqa: FBT001  # a column
    async with opened(output=OutputSettings(fsync=fsync)) as home:
        await home.create(made(a="0", b="0"))
        await asyncio.gather(*(home.update(made(a=str(n), b=str(n))) for n in range(20)))
        written = files(tmp_path / "out")
        assert len(set(written.values())) == 1
        assert await data_of(home, MADE) == encoded(a="19", b="19")


async def test_what_is_owned_goes_with_its_owner(opened: Opener, manifests: Path, tmp_path: Path) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
        (manifests / "app.yaml").unlink()
        await home.look()
        assert await home.get(MADE) is None
        assert not (tmp_path / "out/default/made").exists()


@pytest.mark.parametrize("turns", range(0, 12, 3))
@pytest.mark.parametrize("first", [True, False], ids=["created", "updated"])
async def test_an_owner_that_goes_while_its_secret_is_written_takes_it_along(
    opened: Opener,
    manifests: Path,
    tmp_path: Path,
    turns: int,
    first: bool,  # noqa: FBT001  # a column
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened(output=OutputSettings(fsync=True)) as home:
        owner = await existing(home, ES)
        if not first:
            await home.create(made(owner, a="0"))
        write = asyncio.ensure_future((home.create if first else home.update)(made(owner, a="1")))
        for _ in range(turns):
            await asyncio.sleep(0)
        await home.delete(ES)
        with contextlib.suppress(BackendError):
            await write
        assert await home.get(MADE) is None
        assert not tree(tmp_path / "out/default")
    assert MADE not in dict(read_state(str(tmp_path / "state.db")).rows)


async def test_a_write_that_another_overtook_leaves_the_other_one(opened: Opener, manifests: Path) -> None:
    """A manifest comes while a controller creates the object of that name."""
    async with opened(output=OutputSettings(fsync=True)) as home:
        write = asyncio.ensure_future(
            home.create({**made(a="1"), "metadata": {"name": "given", "namespace": "default"}})
        )
        await asyncio.sleep(0)
        (manifests / "given.yaml").write_text(SECRET_YAML)
        await home.look()
        await asyncio.wait([write])
        assert (await data_of(home, GIVEN)).items() >= encoded(user="anna", password=VALUE).items()


async def test_a_cancelled_write_leaves_a_whole_set(opened: Opener, tmp_path: Path) -> None:
    async with opened(output=OutputSettings(fsync=True)) as home:
        await home.create(made(a="0", b="0"))
        for turns in range(12):
            write = asyncio.ensure_future(home.update(made(a=str(turns), b=str(turns))))
            for _ in range(turns):
                await asyncio.sleep(0)
            write.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await write
            assert len(set(files(tmp_path / "out").values())) == 1
        await home.update(made(a="x", b="x"))
        assert await data_of(home, MADE) == encoded(a="x", b="x")


# ---------------------------------------------------------------------------------------------- a former life
async def test_a_restart_changes_nothing_that_did_not_change(opened: Opener, manifests: Path) -> None:
    (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML)
    refs = (ES, STORE, GIVEN, MADE)
    async with opened() as home:
        app = await existing(home, ES)
        await home.report(ES, {"refreshTime": "2026-01-01T00:00:00Z"}, uid=app.uid)
        await home.report(STORE, {"conditions": []}, uid=(await existing(home, STORE)).uid)
        await home.create(made(app, a=VALUE))
        before = [await existing(home, ref) for ref in refs]
    async with opened() as home:
        assert [await existing(home, ref) for ref in refs] == before
        assert before[0].document["status"] == {"refreshTime": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize("kept", ["uid", "creationTimestamp"])
async def test_what_changed_while_nobody_ran_is_applied(opened: Opener, manifests: Path, kept: str) -> None:
    (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML)
    async with opened() as home:
        before = {ref: (await existing(home, ref)).document for ref in (ES, STORE, GIVEN)}
    changed = (ES_YAML % "2h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML).replace(VALUE, "other-value")
    (manifests / "all.yaml").write_text(changed)
    async with opened() as home:
        after = {ref: (await existing(home, ref)).document for ref in (ES, STORE, GIVEN)}
    for ref, old in before.items():
        assert after[ref]["metadata"][kept] == old["metadata"][kept]
        assert after[ref]["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]
    assert after[ES]["metadata"]["generation"] == before[ES]["metadata"]["generation"] + 1
    assert after[STORE]["metadata"]["generation"] == before[STORE]["metadata"]["generation"] + 1
    assert after[STORE]["spec"]["provider"]["fake"]["data"][0]["value"] == "other-value"
    assert after[GIVEN]["data"]["password"] == b64encode(b"other-value").decode()


async def test_what_went_while_nobody_ran_is_deleted_with_what_it_owned(
    opened: Opener, manifests: Path, tmp_path: Path
) -> None:
    (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML)
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
    (manifests / "all.yaml").unlink()
    async with opened() as home:
        assert [await home.get(ref) for ref in (ES, STORE, GIVEN, MADE)] == [None] * 4
    assert not (tmp_path / "out/default/made").exists()
    assert [ref for ref, _ in read_state(str(tmp_path / "state.db")).rows if ref.kind != "Namespace"] == []


async def test_finalizers_hold_what_went_while_nobody_ran(opened: Opener, manifests: Path) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        app = (await existing(home, ES)).document
        app["metadata"]["finalizers"] = ["example.com/held"]
        await home.update(app)
    (manifests / "app.yaml").unlink()
    async with opened() as home:
        held = (await existing(home, ES)).document
        assert held["metadata"]["deletionTimestamp"]
        assert held["spec"]["refreshInterval"] == "1h"
    async with opened() as home:
        held = (await existing(home, ES)).document
        held["metadata"]["finalizers"] = []
        await home.update(held)
        assert await home.get(ES) is None


async def test_files_that_a_reboot_took_are_a_secret_that_is_gone(opened: Opener, tmp_path: Path) -> None:
    """The output folder is in memory on most hosts, the state is not."""
    async with opened() as home:
        await home.create(made(a="1"))
    (tmp_path / "out").rename(tmp_path / "before-the-reboot")
    async with opened() as home:
        assert await home.get(MADE) is None
        await home.create(made(a="1"))
    assert files(tmp_path / "out") == {"default/made/a": "1"}


async def test_no_value_is_ever_in_the_state(opened: Opener, manifests: Path, tmp_path: Path) -> None:
    annotation = "kubectl.kubernetes.io/last-applied-configuration"
    secret = SECRET_YAML.replace("labels:", f"annotations: {{{annotation}: {VALUE}}}, labels:")
    (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + secret)
    async with opened() as home:
        assert str(await home.get(STORE))
        await home.create(made(a=VALUE))
        given = (await existing(home, GIVEN)).document
        given["data"]["merged"] = b64encode(VALUE.encode()).decode()
        await home.update(given)
        assert sorted(is_anywhere(tmp_path, VALUE)) == ["a", "all.yaml", "merged", "password"]
    assert sorted(is_anywhere(tmp_path, VALUE)) == ["a", "all.yaml", "merged", "password"]
    assert read_state(str(tmp_path / "state.db")).rows


async def test_rows_that_none_of_us_wrote_are_refused(opened: Opener, tmp_path: Path) -> None:
    state = State(str(tmp_path / "state.db"))
    state.put(ES, b'{"document": {}}')
    await state.aclose()
    with pytest.raises(StateError, match="damaged"):
        async with opened():
            pass


async def test_two_daemons_do_not_share_a_state_or_an_output_folder(opened: Opener, tmp_path: Path) -> None:
    async with opened():
        with pytest.raises(StateError, match="another syncret"):
            async with opened(output_dir=None):
                pass
        with pytest.raises(TargetUnavailable, match="another syncret"):
            async with opened(state_file=None):
                pass
        other = str(tmp_path / "other.db")
        with pytest.raises(TargetUnavailable, match="another syncret"):
            async with opened(state_file=other):
                pass
        async with opened(state_file=other, output_dir=str(tmp_path / "other")):
            pass


# ------------------------------------------------------------------------------------------------ the folders
async def test_a_manifest_secret_stays_in_memory(opened: Opener, manifests: Path, tmp_path: Path) -> None:
    (manifests / "given.yaml").write_text(SECRET_YAML)
    async with opened() as home:
        assert await data_of(home, GIVEN) == encoded(user="anna", password=VALUE)
        assert is_anywhere(tmp_path, VALUE) == ["given.yaml"]


async def test_keys_that_controllers_merged_survive_a_new_version_of_the_manifest(
    opened: Opener, manifests: Path, tmp_path: Path
) -> None:
    (manifests / "given.yaml").write_text(SECRET_YAML)
    async with opened() as home:
        given = (await existing(home, GIVEN)).document
        given["data"]["merged"] = b64encode(b"m").decode()
        await home.update(given)
        out = tmp_path / "out/default/given"
        assert files(out) == {"user": "anna", "password": VALUE, "merged": "m"}
        (manifests / "given.yaml").write_text(SECRET_YAML.replace("user: anna", "login: berta"))
        await home.look()
        assert files(out) == {"login": "berta", "password": VALUE, "merged": "m"}
    async with opened() as home:
        assert await data_of(home, GIVEN) == encoded(login="berta", password=VALUE, merged="m")
        assert files(out) == {"login": "berta", "password": VALUE, "merged": "m"}
        (manifests / "given.yaml").unlink()
        await home.look()
        assert await home.get(GIVEN) is None
        assert not out.exists()


async def test_edits_are_applied_and_renames_change_nothing(opened: Opener, manifests: Path) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        (manifests / "app.yaml").rename(manifests / "renamed.yaml")
        await home.look()
        assert await existing(home, ES) == before
        (manifests / "renamed.yaml").write_text(ES_YAML % "2h")
        await home.look()
        after = (await existing(home, ES)).document
        assert after["metadata"]["generation"] == 2
        assert after["metadata"]["uid"] == before.uid


async def test_a_refused_version_leaves_the_last_good_one(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        (manifests / "app.yaml").write_text(ES_YAML % "[1, 2]")
        await home.look()
        assert await existing(home, ES) == before
        assert f"{manifests}/app.yaml:5: spec.refreshInterval" in str(problems)
    async with opened() as home:
        assert await existing(home, ES) == before
        (manifests / "app.yaml").write_text(ES_YAML % "1h")
        await home.look()
        assert problems.last == []


async def test_what_is_dropped_is_told_in_each_life_and_refuses_nothing(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    dropped = (ES_YAML % "1h").replace("spec:", "spec:\n  refreshIntervall: 5m")
    (manifests / "app.yaml").write_text(
        dropped.replace("external-secrets.io/v1", "external-secrets.io/v1beta1")
    )
    (manifests / "store.yaml").write_text(STORE_YAML)
    for _ in range(2):
        async with opened() as home:
            for _ in range(2):
                assert [(each.problem.severity, each.problem.path) for each in problems.last] == [
                    (Severity.WARNING, "apiVersion"),
                    (Severity.WARNING, "spec.refreshIntervall"),
                ]
                await home.look()
            assert f"{manifests}/app.yaml:5: spec.refreshIntervall: unknown field" in str(problems)
            await existing(home, ES)
        problems.last = ()


async def test_a_refused_document_tells_each_thing_once(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    wrong = (ES_YAML % "soon").replace("spec:", "spec:\n  refreshIntervall: 5m")
    (manifests / "app.yaml").write_text(wrong)
    async with opened():
        assert sorted(each.problem.path for each in problems.last) == [
            "spec.refreshInterval",
            "spec.refreshIntervall",
        ]


async def test_a_store_whose_values_are_unknown_is_not_in_force(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    """Its values are in the manifest alone: a broken manifest must not turn into wrong values."""
    (manifests / "store.yaml").write_text(STORE_YAML)
    async with opened() as home:
        uid = (await existing(home, STORE)).uid
    (manifests / "store.yaml").write_text("a: [")
    async with opened() as home:
        assert await home.get(STORE) is None
        assert problems.last
    (manifests / "store.yaml").write_text(STORE_YAML)
    async with opened() as home:
        assert (await existing(home, STORE)).uid == uid


async def test_a_folder_that_vanished_deletes_nothing(
    opened: Opener, manifests: Path, problems: Problems, tmp_path: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        vanish(manifests)
        await home.look()
        assert await existing(home, ES) == before
        assert "stays in force" in str(problems)
    async with opened() as home:
        assert await existing(home, ES) == before


@pytest.mark.parametrize("dry", [True, False])
async def test_who_asks_hears_of_written_objects_that_go(
    opened: Opener,
    manifests: Path,
    tmp_path: Path,
    dry: bool,  # noqa: FBT001  # a column
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
    (manifests / "app.yaml").unlink()
    went: dict[ObjectRef, Document] = {}
    async with opened(on_removed=went.__setitem__, dry=dry):
        assert went == {MADE: made(a="1")}
    assert bool(files(tmp_path / "out")) is dry


async def test_a_path_taken_out_of_the_settings_is_gone(
    opened: Opener, manifests: Path, tmp_path: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened():
        pass
    async with opened(manifests=[str(tmp_path / "other")]) as home:
        assert await home.get(ES) is None


async def test_an_object_that_was_deleted_comes_back_while_its_manifest_stands(
    opened: Opener, manifests: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        await home.delete(ES)
        assert await home.get(ES) is None
        await home.look()
        await home.look()
        assert (await existing(home, ES)).uid != before.uid


async def test_an_output_folder_among_the_manifests_is_not_read(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    """Written files may well look like manifests."""
    async with opened(output_dir=str(manifests / "out")) as home:
        await home.create({**made(), "data": encoded(**{"app.yaml": ES_YAML % "1h"})})
        await home.look()
        assert await home.get(ES) is None
        assert not problems.last


async def test_the_folder_of_manifests_cannot_be_the_output_folder(opened: Opener, manifests: Path) -> None:
    with pytest.raises(TargetUnavailable, match="manifests are read from this folder"):
        async with opened(output_dir=str(manifests)):
            pass


@pytest.fixture
async def running(opened: Opener) -> AsyncGenerator[HostHome, None]:
    async with opened() as home:
        task = asyncio.create_task(home.run())
        yield home
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def until(home: HostHome, ref: ObjectRef, *, there: bool = True) -> None:
    """Watch the home until an object is there, or gone."""
    async with asyncio.timeout(5), aclosing(home.watch()) as changes:
        async for change in changes:
            if change.kind is ChangeKind.SYNCED and (await home.get(ref) is not None) is there:
                return
            gone = change.kind is ChangeKind.DELETED
            if change.stored is not None and change.stored.ref == ref and gone is not there:
                return


async def test_the_folders_are_followed(running: HostHome, manifests: Path) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    await until(running, ES)
    (manifests / "deep/er").mkdir(parents=True)
    (manifests / "deep/er/given.yaml").write_text(SECRET_YAML)
    await until(running, GIVEN)
    (manifests / "app.yaml").unlink()
    await until(running, ES, there=False)


async def test_a_folder_that_comes_back_is_followed(
    running: HostHome, manifests: Path, tmp_path: Path
) -> None:
    vanish(manifests, instead=True)
    await asyncio.sleep(0.1)
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    await until(running, ES)


# ------------------------------------------------------------------------------------------- credentials, dry
@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    folder = tmp_path / "credentials"
    folder.mkdir()
    (folder / "vault.token").write_text(VALUE)
    (folder / "vault.ca.crt").write_text("ca")
    (folder / "other").write_text("not ours")
    return folder


async def test_credentials_are_secrets_that_are_written_nowhere(
    opened: Opener, credentials: Path, tmp_path: Path, problems: Problems
) -> None:
    ref = ObjectRef("", "Secret", "default", "vault")
    async with opened(credentials=str(credentials)) as home:
        assert await data_of(home, ref) == encoded(**{"token": VALUE, "ca.crt": "ca"})
        assert not problems.last
        vault = (await existing(home, ref)).document
        with pytest.raises(Invalid, match="credential"):
            await home.update({**vault, "data": encoded(x="1")})
        (credentials / "vault.token").write_text("renewed")
        await home.look()
        assert (await data_of(home, ref))["token"] == b64encode(b"renewed").decode()
    assert ref not in dict(read_state(str(tmp_path / "state.db")).rows)
    assert files(tmp_path / "out") == {}


async def test_a_credential_that_is_misnamed_is_told(
    opened: Opener, credentials: Path, problems: Problems
) -> None:
    (credentials / "Vault_2.token").write_text("x")
    async with opened(credentials=str(credentials)):
        assert "call it <secret>.<key>" in str(problems)


async def test_a_dry_home_sees_everything_and_writes_nothing(
    opened: Opener, manifests: Path, tmp_path: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML)
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
        before = tree(tmp_path)
        async with opened(dry=True) as dry:  # beside the one that runs
            assert (await existing(dry, ES)) == (await existing(home, ES))
            assert (await existing(dry, STORE)) == (await existing(home, STORE))
            assert await data_of(dry, MADE) == encoded(a="1")
            await dry.update(made(a="2"))
            assert await data_of(dry, MADE) == encoded(a="2")
            with pytest.raises(NotFound):
                await dry.delete(GIVEN)
            await dry.delete(MADE)
        assert files(tmp_path / "out") == {"default/made/a": "1"}
        assert tree(tmp_path) == before
