"""Small Debian roots with the product in them, for the tests that boot a system or build an image.

What takes long is made once and kept in the user's cache: a root for each list of packages, and the
libraries of the lock as wheels. Both are named after a digest of what they are made from.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUITE = "bookworm"
NEXT_SUITE = "trixie"
PYTHON_OF = {SUITE: "3.11", NEXT_SUITE: "3.13"}
NO_DOCUMENTATION = tuple(
    f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("doc", "info", "locale", "man")
)
LOCKS = ("build.txt", "runtime.txt")


def missing_tools(*tools: str) -> str:
    """Why a test of this kind cannot run here; empty where it can."""
    if os.geteuid() != 0:
        return "needs root"
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return f"needs {', '.join(missing)}" if missing else ""


def root_tar(packages: Sequence[str], *, variant: str, suite: str = SUITE) -> Path:
    """A tar of a Debian root with these packages."""
    arguments = [f"--variant={variant}", f"--include={','.join(packages)}", *NO_DOCUMENTATION, suite]
    path = _cache() / f"root-{_digest(*arguments)}.tar"
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}.tar")
        try:
            run("mmdebstrap", "--quiet", *arguments, partial)
            partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)
    return path


def wheels(suite: str = SUITE) -> Path:
    """A folder with a wheel of each locked library, for the Python of the suite."""
    locks, python = [ROOT / "requirements" / name for name in LOCKS], PYTHON_OF[suite]
    folder = _cache() / f"wheels-{_digest(*(lock.read_text() for lock in locks), python)}"
    if not folder.exists():
        partial = folder.with_suffix(f".{os.getpid()}")
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--require-hashes",
            "--only-binary=:all:",
        ]
        command += [f"--python-version={python}", f"--dest={partial}"]
        try:
            run(*command, *(f"--requirement={lock}" for lock in locks))
            partial.rename(folder)
        except OSError:  # another run made it meanwhile
            if not folder.exists():
                raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def run(*command: str | Path, **environment: str) -> str:
    """Run a command to its end; what it printed, or an error that shows it."""
    done = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stdout}")
    return done.stdout


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "syncret" / "debian"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
