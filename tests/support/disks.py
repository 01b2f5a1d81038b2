"""Disks that are full: a small file system of its own, or a limit that the kernel sets to all files."""

import os
import resource
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str = "256k") -> Generator[Path, None, None]:
    """A file system of that size; the test is skipped where mounting is not allowed."""
    folder.mkdir(parents=True)
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def image_mounted(image: Path, folder: Path) -> Generator[Path, None, None]:
    """The file system in a file. What is written reaches it only when somebody asks: nothing does by time."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-o", "loop,commit=3600", str(image), str(folder)], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("no file system in a file can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def immutable(folder: Path) -> Generator[None, None, None]:
    """Within this block not even root may change a name in the folder."""
    if subprocess.run(["chattr", "+i", str(folder)], check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be made immutable here")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", str(folder)], check=True)


@contextmanager
def filled(disk: Path, *, left: int = 0) -> Generator[None, None, None]:
    """Within this block so many bytes are left on the disk."""
    ballast = disk / "ballast"
    ballast.write_bytes(b"x" * (os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize - left))
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def no_room_for_the_state() -> Generator[None, None, None]:
    """Within this block no file of this process grows past a page of the state file: other files are small.

    What a commit then meets is an error of the kernel, as with a full disk.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
