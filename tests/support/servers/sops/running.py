"""The real sops, built from its published sources."""

import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.support.servers.golang import built, need_go


@cache
def program() -> Path:
    """The program. Building it takes minutes the first time."""
    need_go()
    flags = ("-mod=mod", "-ldflags=-s -w")
    return (
        built(Path(__file__).parent, packages=("github.com/getsops/sops/v3/cmd/sops",), flags=flags) / "sops"
    )


def run(*arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What became of `sops ARGUMENTS`, which asks nobody for a newer version."""
    return subprocess.run(
        [program(), *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "SOPS_DISABLE_VERSION_CHECK": "1", **(environment or {})},
    )
