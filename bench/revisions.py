"""The sources of another commit of this repository, beside those that are measured."""

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from bench.estate import INSTALLED

ROOT: Final = Path(__file__).parents[1]


class Unknown(Exception):
    """This is no clone of the repository, or one without the commit."""


def sources_of(commit: str, parent: Path) -> Path:
    """Unpack a commit into a new folder; what PYTHONPATH must name for `syncret` to be that one."""
    if shutil.which("git") is None:
        raise Unknown("git is not installed")
    asked = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if asked.returncode:
        raise Unknown(asked.stderr.decode().strip())
    folder = Path(tempfile.mkdtemp(prefix="commit-", dir=parent))
    with tarfile.open(fileobj=io.BytesIO(asked.stdout)) as archive:
        archive.extractall(folder, filter="tar")
    return folder / "src"


def command(*arguments: str) -> list[str]:
    """The command line of the product, whatever its sources."""
    return [*INSTALLED, *arguments]


def environment(sources: Path) -> dict[str, str]:
    """Of a process whose `syncret` has these sources."""
    return os.environ | {"PYTHONPATH": str(sources)}
