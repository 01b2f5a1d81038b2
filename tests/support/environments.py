"""Environments of Python with the packages of one lock, made once and kept in the user's cache.

They are for what cannot stand beside our own libraries, such as a vendor's client that demands older ones.
"""

import fcntl
import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Final

from tests.support.debian import ROOT, run

_PIP: Final = (sys.executable, "-m", "pip", "--disable-pip-version-check")
_LOCKED: Final = ("--quiet", "--require-hashes", "--only-binary=:all:")


def python_with(lock: str) -> Path:
    """The interpreter of the environment that has the packages of a file in `requirements/`, and no others.

    Several processes may ask at once: one makes it, the others wait for it.
    """
    requirements = ROOT / "requirements" / lock
    digest = hashlib.sha256(sys.version.encode() + requirements.read_bytes()).hexdigest()[:16]
    folder = _cache() / f"{requirements.stem}-{digest}"
    ready = folder / "ready"
    with folder.with_suffix(".lock").open("w") as waits:
        fcntl.flock(waits, fcntl.LOCK_EX)
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            run(sys.executable, "-m", "venv", "--without-pip", folder)
            run(*_PIP, f"--python={folder / 'bin' / 'python'}", "install", *_LOCKED, "-r", requirements)
            ready.touch()
    return folder / "bin" / "python"


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "syncret" / "python"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
