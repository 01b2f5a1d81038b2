"""Output folders of tests: opened on request, closed at the end."""

import os
import subprocess
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from syncret.daemon.homes.filesystem.output.root import OutputSettings, OutputTree

Opener = Callable[..., OutputTree]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def open_tree(output: Path) -> Generator[Opener, None, None]:
    """Opens the output folder with the given settings; all are closed at the end."""
    with ExitStack() as stack:

        def opened(settings: OutputSettings | None = None, path: Path = output) -> OutputTree:
            tree = OutputTree(str(path), settings or OutputSettings(fsync=False))
            stack.callback(tree.close)
            return tree

        yield opened


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path, None, None]:
    """A file system of 256 KiB; skipped where mounting is not allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
