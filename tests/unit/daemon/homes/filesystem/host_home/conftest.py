"""Opens the home of a test; each opening is another life of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.filesystem.state.journal import OnRemoved
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry
from tests.unit.daemon.homes.filesystem.host_home.support import Opener, Problems

REGISTRY = Registry()


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
