"""Memory is given back where the C library can, and nothing happens elsewhere."""

import ctypes

import pytest

from syncret.daemon.process import give_back


def test_unused_pages_are_given_back() -> None:
    give_back()


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(_name: None) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", without)

    give_back()
