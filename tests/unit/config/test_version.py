"""The version is that of the installed distribution."""

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from syncret.config.version import version


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    version.cache_clear()
    yield
    version.cache_clear()


def test_it_is_what_the_metadata_says() -> None:
    assert version() == metadata.version("syncret")


def test_code_that_is_not_installed_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "syncret_other-2.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])
    assert version() == "unknown"
