import shutil
import stat
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.backends.contract import ChangeKind
from syncret.daemon.backends.filesystem.home import HostHome, HostSettings
from syncret.daemon.backends.filesystem.tree import OutputSettings
from syncret.daemon.backends.memory.admission import admission_by
from syncret.providers.registry import Registry

REGISTRY = Registry()
SECRET = ObjectRef("", "Secret", "default", "made")
MAP = ObjectRef("", "ConfigMap", "default", "map")
DOCUMENTS = (
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


def opened(folder: Path) -> HostHome:
    (folder / "manifests").mkdir(exist_ok=True)
    settings = HostSettings(
        manifests=[str(folder / "manifests")],
        output_dir=str(folder / "out"),
        state_file=str(folder / "state.db"),
        output=OutputSettings(fsync=False),
    )
    return HostHome(
        settings,
        catalog=REGISTRY,
        admission=admission_by(REGISTRY),
        now=lambda: 1767225600.0,
        on_problems=lambda problems: None,
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
    async for change in watch:
        if change.kind is ChangeKind.SYNCED:
            break
    await home.inspect()
    await home.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "end", "namespace": "default"}}
    )
    heard: list[ObjectRef] = []
    async for change in watch:
        if change.stored is None or change.stored.ref.name == "end":
            break
        heard.append(change.stored.ref)
    await watch.aclose()
    await home.delete(ObjectRef("", "ConfigMap", "default", "end"))
    return heard


TOUCHES = [
    pytest.param(lambda out: (out / "made/a").write_text("3"), [SECRET], id="edited, of the same size"),
    pytest.param(lambda out: (out / "made/a").unlink(), [SECRET], id="file deleted"),
    pytest.param(lambda out: (out / "made/c").write_text("3"), [SECRET], id="file added"),
    pytest.param(lambda out: shutil.rmtree(out / "made"), [SECRET], id="folder deleted"),
    pytest.param(shutil.rmtree, [MAP, SECRET], id="everything deleted"),
    pytest.param(lambda out: (out / "made/a").chmod(0o644), [SECRET], id="mode of a file"),
    pytest.param(lambda out: (out / "made").chmod(0o755), [SECRET], id="mode of the folder"),
    pytest.param(lambda out: (out / "ConfigMap_map.yaml").chmod(0o644), [MAP], id="mode of a manifest"),
    pytest.param(lambda out: (out / "ConfigMap_map.yaml").unlink(), [MAP], id="manifest deleted"),
    pytest.param(lambda out: (out / "other").write_text("3"), [], id="somebody else's file beside"),
]


@pytest.mark.parametrize(("touch", "expected"), TOUCHES)
async def test_what_somebody_touched_is_told_once(
    home: HostHome, tmp_path: Path, touch: Callable[[Path], object], expected: list[ObjectRef]
) -> None:
    assert await told(home) == []
    touch(tmp_path / "out/default")
    assert sorted(await told(home)) == sorted(expected)
    assert await told(home) == []


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
