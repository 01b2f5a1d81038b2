import asyncio
import shutil
import stat
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.core.digest import data_hash
from syncret.daemon.core.ownership import DATA_HASH, MANAGED
from syncret.daemon.homes.contract import Conflict, HomeProblem, WatchEventType
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.drift import Drift
from syncret.daemon.homes.filesystem.output.root import OutputRoot, OutputSettings
from syncret.daemon.homes.filesystem.output.secret_folder import SecretFolder
from syncret.daemon.homes.filesystem.state.database import StateError
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry
from tests.support.homes import delete_by_name
from tests.unit.daemon.homes.filesystem.output.writes import write

REGISTRY = Registry()
SECRET = ObjectRef("", "Secret", "default", "made")
MAP = ObjectRef("", "ConfigMap", "default", "map")
DOCUMENTS: tuple[Document, ...] = (
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "made", "namespace": "default"},
        "data": {"a": "MQ==", "b": "Mg=="},
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "map", "namespace": "default"},
        "data": {"a": "1"},
    },
)


def _unheard(problems: Sequence[HomeProblem]) -> None:
    assert not problems


def opened(folder: Path, file_mode: int = 0o600, *, fsync: bool = False) -> HostHome:
    (folder / "manifests").mkdir(exist_ok=True)
    settings = HostSettings(
        manifests=[str(folder / "manifests")],
        output_dir=str(folder / "out"),
        state_file=str(folder / "state.db"),
        output=OutputSettings(fsync=fsync, file_mode=file_mode),
    )
    return HostHome(
        settings,
        catalog=REGISTRY,
        admission=admission_by(REGISTRY),
        now=lambda: 1767225600.0,
        on_problems=_unheard,
    )


@pytest.fixture
async def home(tmp_path: Path) -> AsyncGenerator[HostHome, None]:
    async with opened(tmp_path) as home:
        for document in DOCUMENTS:
            await home.create(document)
        yield home


async def told(home: HostHome) -> list[ObjectRef]:
    """Objects that watchers are told of by one inspection."""
    watch = home.watch()
    missing = set(home.kinds())
    while missing:
        event = await anext(watch)
        if event.type is WatchEventType.LISTED:
            missing.discard(event.group_kind)
    await home.inspect()
    await home.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "end", "namespace": "default"}}
    )
    heard: list[ObjectRef] = []
    async for change in watch:
        if change.object is None or change.object.ref.name == "end":
            break
        assert change.type is WatchEventType.DRIFTED
        heard.append(change.object.ref)
    await watch.aclose()
    await delete_by_name(home, ObjectRef("", "ConfigMap", "default", "end"))
    return heard


TOUCHES: dict[str, tuple[Callable[[Path], object], list[ObjectRef]]] = {
    "edited, of the same size": (lambda out: (out / "made/a").write_text("3"), [SECRET]),
    "file deleted": (lambda out: (out / "made/a").unlink(), [SECRET]),
    "file added": (lambda out: (out / "made/c").write_text("3"), [SECRET]),
    "folder deleted": (lambda out: shutil.rmtree(out / "made"), [SECRET]),
    "everything deleted": (shutil.rmtree, [MAP, SECRET]),
    "mode of a file": (lambda out: (out / "made/a").chmod(0o644), [SECRET]),
    "mode of the folder": (lambda out: (out / "made").chmod(0o755), [SECRET]),
    "mode of a manifest": (lambda out: (out / "ConfigMap_map.yaml").chmod(0o644), [MAP]),
    "manifest deleted": (lambda out: (out / "ConfigMap_map.yaml").unlink(), [MAP]),
    "somebody else's file beside": (lambda out: (out / "other").write_text("3"), []),
}


@pytest.mark.parametrize(("touch", "expected"), TOUCHES.values(), ids=TOUCHES.keys())
async def test_what_somebody_touched_is_told_once(
    home: HostHome, tmp_path: Path, touch: Callable[[Path], object], expected: list[ObjectRef]
) -> None:
    assert await told(home) == []
    touch(tmp_path / "out/default")
    assert sorted(await told(home)) == sorted(expected)
    assert await told(home) == []


async def test_a_state_file_that_is_gone_ends_the_home(home: HostHome, tmp_path: Path) -> None:
    (tmp_path / "state.db").unlink()
    with pytest.raises(StateError, match="state file was removed"):
        await home.inspect()


async def test_modes_are_mended_and_files_that_were_right_stay(home: HostHome, tmp_path: Path) -> None:
    folder = tmp_path / "out/default/made"
    untouched = (folder / "b").stat().st_ino
    (folder / "a").chmod(0o644)
    folder.chmod(0o755)
    await home.inspect()
    assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "b").stat().st_ino == untouched


async def test_own_writes_are_no_drift(home: HostHome) -> None:
    await home.update({**DOCUMENTS[0], "data": {"a": "Mw=="}})
    assert await told(home) == []


async def test_in_another_life_drift_counts_from_the_first_look(home: HostHome, tmp_path: Path) -> None:
    await home.__aexit__(None, None, None)
    async with opened(tmp_path) as again:
        assert await again.get(SECRET) is not None
        assert await told(again) == []
        (tmp_path / "out/default/made/a").write_text("3")
        assert await told(again) == [SECRET]


async def test_modes_of_former_settings_are_mended(home: HostHome, tmp_path: Path) -> None:
    await home.__aexit__(None, None, None)
    async with opened(tmp_path, file_mode=0o640) as again:
        await again.get(SECRET)
        assert await told(again) == [SECRET]
    assert stat.S_IMODE((tmp_path / "out/default/made/a").stat().st_mode) == 0o640


def managed(data: Document) -> Document:
    """The Secret as an ExternalSecret leaves it."""
    values = {key: b64decode(value) for key, value in data.items()}
    metadata = {
        "name": "made",
        "namespace": "default",
        "labels": {MANAGED: "true"},
        "annotations": {DATA_HASH: data_hash(values)},
    }
    return {**DOCUMENTS[0], "metadata": metadata, "data": data}


@pytest.fixture
async def state(home: HostHome, tmp_path: Path) -> Path:
    """What is left of a life in which an ExternalSecret wrote the Secret."""
    await home.update(managed({"a": "Mw==", "b": "Mg=="}))
    assert home.is_unchanged(SECRET)
    assert not home.is_unchanged(MAP)
    await home.__aexit__(None, None, None)
    return tmp_path


async def test_another_life_knows_files_that_nobody_touched(state: Path) -> None:
    async with opened(state) as again:
        assert again.is_unchanged(SECRET)
        assert await told(again) == []
        assert (await again.list(SECRET.group_kind))[0].document["data"] == {"a": "Mw==", "b": "Mg=="}
        (state / "out/default/made/a").write_text("4")
        assert not again.is_unchanged(SECRET)


@pytest.mark.parametrize(
    "touch",
    [pytest.param(touch, id=name) for name, (touch, told) in TOUCHES.items() if SECRET in told],
)
async def test_another_life_sees_what_was_touched_before_it(
    state: Path, touch: Callable[[Path], object]
) -> None:
    touch(state / "out/default")
    async with opened(state) as again:
        assert not again.is_unchanged(SECRET)


async def test_files_of_other_settings_are_looked_at_again(state: Path) -> None:
    async with opened(state, file_mode=0o640) as again:
        assert not again.is_unchanged(SECRET)
        await again.get(SECRET)
        assert await told(again) == [SECRET]


async def test_only_data_that_its_hash_names_is_taken_on_trust(home: HostHome, tmp_path: Path) -> None:
    await home.update(managed({"a": "Mw=="}))
    document = (await home.list(SECRET.group_kind))[0].document
    await home.update({**document, "data": {"a": "NA=="}})
    assert not home.is_unchanged(SECRET)
    await home.__aexit__(None, None, None)
    async with opened(tmp_path) as again:
        assert not again.is_unchanged(SECRET)


async def test_a_write_that_did_not_come_to_stand_is_not_trusted(tmp_path: Path) -> None:
    async with opened(tmp_path, fsync=True) as home:
        created = await home.create(managed({"a": "Mw=="}))
        assert home.is_unchanged(SECRET)
        updating = asyncio.create_task(home.update(managed({"a": "NA=="})))
        await asyncio.sleep(0)  # it waits for the disk now
        await home.update_status(created, {"reported": "meanwhile"})
        with pytest.raises(Conflict):
            await updating
        assert not home.is_unchanged(SECRET)


@pytest.mark.parametrize("exchange", [pytest.param(True, id="swapped"), pytest.param(False, id="one by one")])
@pytest.mark.parametrize(
    "touch",
    [pytest.param(touch, id=name) for name, (touch, told) in TOUCHES.items() if SECRET in told],
)
def test_a_touch_between_a_write_and_its_note_is_drift(
    tmp_path: Path, touch: Callable[[Path], object], *, exchange: bool
) -> None:
    tree = OutputRoot(str(tmp_path), OutputSettings(fsync=False, exchange=exchange))
    try:
        outputs = SecretFolder(tree)
        write(outputs, SECRET, {"a": b"1", "b": b"2"})
        written = write(outputs, SECRET, {"a": b"3", "b": b"2"})
        drift = Drift(tree)
        drift.note(SECRET, written.fingerprints, matches_hash=True)
        assert drift.found() == []
        assert drift.is_unchanged(SECRET)
        touch(tmp_path / "default")
        drift.note(SECRET, written.fingerprints, matches_hash=True)
        assert not drift.is_unchanged(SECRET)
        assert drift.found() == [SECRET]
    finally:
        tree.close()
