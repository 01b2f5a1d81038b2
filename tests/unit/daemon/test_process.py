"""What the process asks of the kernel: files, private memory, and memory given back."""

import ctypes
import resource
import subprocess
import sys

import pytest

from syncret.daemon.process import keep_memory_private, trim_memory

SCRIPT = """
import resource
from syncret.daemon.process import raise_file_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 512))
for _ in range(2):
    raise_file_limit()
    print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_the_soft_limit_is_raised_to_the_hard_one() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["512"] * 4


def test_unused_pages_are_given_back() -> None:
    trim_memory()


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(_name: None) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", without)

    trim_memory()


PRIVATE = """
import os, resource, ssl, ctypes
from pathlib import Path
from syncret.daemon.process import keep_memory_private
resource.setrlimit(resource.RLIMIT_CORE, (4096, 8192))
os.setuid(65534) if os.geteuid() == 0 else None
keep_memory_private()
reading, writing = os.pipe()
print(*resource.getrlimit(resource.RLIMIT_CORE))
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), Path(f"/proc/self/fd/{reading}").readlink().name[:4])
memory = os.memfd_create("m")
os.write(memory, b"read again")
print(Path(f"/proc/self/fd/{memory}").read_text(), len(os.listdir("/proc/self/fd")) > 3)
"""


def test_no_core_file_and_no_look_into_the_memory_but_its_own_descriptors() -> None:
    """Without privileges, as a service runs: what the program reads in /proc/self stays readable."""
    done = subprocess.run([sys.executable, "-c", PRIVATE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0 8192", "0 pipe", "read again True"]


def test_a_kernel_or_c_library_that_refuses_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_which: int, _limits: tuple[int, int]) -> None:
        raise PermissionError

    def without(_name: None) -> object:
        return object()

    monkeypatch.setattr(resource, "setrlimit", refused)
    monkeypatch.setattr(ctypes, "CDLL", without)

    keep_memory_private()
