"""Memory is given back where the C library can, and nothing happens elsewhere."""

import ctypes
import subprocess
import sys

import pytest

from syncret.daemon.process import trim_memory

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
