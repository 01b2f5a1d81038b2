"""Builds the Go programs that tests compare with or talk to, once, into the user's cache.

A build is named by a digest of everything that it is made from, so that nothing is ever stale, and nothing in
the tree is written to.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

SOURCES: Final = ("go.mod", "go.sum", "*.go")


def need_go() -> None:
    """Skip the test on a machine without Go; in CI that is an error, so that nothing is left out unseen."""
    if shutil.which("go") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("needs Go, which this machine lacks")
        pytest.skip("needs Go")


def built(
    module: Path,
    *,
    packages: Sequence[str] = ("./...",),
    flags: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Path:
    """The folder with the programs of a module, built now if the cache does not have them.

    Several processes may ask at once: one builds, the others wait for it. Takes minutes the first time.

    Args:
        module: the folder of go.mod.
        packages: what to build, as `go build` takes it.
        flags: arguments of `go build`, such as `-mod=mod` or `-ldflags=...`.
        environment: what `go build` finds in its environment besides this process's own.
    """
    settings = {"CGO_ENABLED": "0", **(environment or {})}
    name = f"{module.name}-{_digest(module, [*packages, *flags, *map('='.join, sorted(settings.items()))])}"
    cache = _cache()
    programs = cache / name
    with _locked(cache / f"{name}.lock"):
        if not programs.exists():
            partial = cache / f"{name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            _build(module, partial, [*flags, *packages], settings)
            (partial / "bin").rename(programs)
            shutil.rmtree(partial)
    return programs


def sources_of(module: Path, required: str) -> Path:
    """The folder with the sources of a Go module that another one requires, downloaded if need be.

    Args:
        module: the folder of the go.mod that names the version.
        required: the path of the module that is asked for.
    """
    with tempfile.TemporaryDirectory() as copy:  # `go` may write into the folder
        for name in ("go.mod", "go.sum"):
            shutil.copyfile(module / name, Path(copy) / name)
        asked = ["go", "mod", "download", "-json", required]
        done = subprocess.run(asked, check=False, cwd=copy, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(asked)} failed, exit {done.returncode}\n{done.stdout}{done.stderr}")
    return Path(json.loads(done.stdout)["Dir"])


def _build(module: Path, partial: Path, arguments: Sequence[str], settings: Mapping[str, str]) -> None:
    """Build a copy of the module: with `-mod=mod`, `go build` may write into its folder."""
    copy = partial / "module"
    for source in _sources(module):
        target = copy / source.relative_to(module)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    (partial / "bin").mkdir()
    done = subprocess.run(
        ["go", "build", "-trimpath", "-buildvcs=false", "-o", f"{partial / 'bin'}{os.sep}", *arguments],
        check=False,
        cwd=copy,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"go build of {module} failed, exit {done.returncode}\n{done.stdout}")


def _digest(module: Path, arguments: Sequence[str]) -> str:
    version = subprocess.run(["go", "env", "GOVERSION", "GOARCH"], check=True, capture_output=True).stdout
    digest = hashlib.sha256(version + "\0".join(arguments).encode())
    for source in _sources(module):
        digest.update(f"\0{source.relative_to(module)}\0".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def _sources(module: Path) -> list[Path]:
    return sorted(path for pattern in SOURCES for path in module.rglob(pattern))


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "syncret" / "go"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _locked(path: Path) -> Generator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
