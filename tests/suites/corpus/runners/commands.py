"""The product's command line, as a process of its own."""

import subprocess
import sys
from pathlib import Path
from typing import Final

TIMEOUT: Final = 300


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run `syncret` and wait for it."""
    return subprocess.run(
        [Path(sys.executable).with_name("syncret"), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
