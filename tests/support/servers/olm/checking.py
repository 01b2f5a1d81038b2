"""The validators of the Operator Lifecycle Manager, built from their published sources."""

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.support.servers.golang import built, need_go


@cache
def program() -> Path:
    """The program. Building it takes a minute the first time."""
    need_go()
    return built(Path(__file__).parent, flags=("-mod=mod", "-ldflags=-s -w")) / "check-bundle"


def checked(bundle: Path) -> tuple[int, Sequence[str]]:
    """The exit code, 0 for a bundle without errors, and a line for each finding."""
    done = subprocess.run([program(), bundle], check=False, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()
