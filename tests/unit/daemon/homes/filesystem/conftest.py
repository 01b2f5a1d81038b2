"""Output folders and host homes of tests: opened on request, closed at the end."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.manifests import events
from syncret.daemon.homes.filesystem.output.root import OutputRoot, OutputSettings
from syncret.daemon.homes.filesystem.state.writer import OnRemoved
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry
from tests.support.disks import small_disk as small_disk_at
from tests.unit.daemon.homes.filesystem.homes import Opener as HomeOpener
from tests.unit.daemon.homes.filesystem.homes import Problems

Opener = Callable[..., OutputRoot]
REGISTRY = Registry()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders are looked for twenty times a second."""
    monkeypatch.setattr(events, "_TICK", 0.05)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def open_tree(output: Path) -> Generator[Opener, None, None]:
    """Opens the output folder with the given settings; all are closed at the end."""
    with ExitStack() as stack:

        def opened(settings: OutputSettings | None = None, path: Path = output) -> OutputRoot:
            tree = OutputRoot(str(path), settings or OutputSettings(fsync=False))
            stack.callback(tree.close)
            return tree

        yield opened


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path, None, None]:
    """A file system of 256 KiB; skipped where mounting is not allowed."""
    with small_disk_at(tmp_path / "disk") as folder:
        yield folder


@pytest.fixture
def problems() -> Problems:
    return Problems()


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    folder = tmp_path / "manifests"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(tmp_path: Path, manifests: Path, problems: Problems) -> HomeOpener:
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
