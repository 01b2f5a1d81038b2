"""Manifests as files: private, complete, and all in their places or none."""

import os
from pathlib import Path

import pytest

from syncret.daemon.cli.releasing import output_folder


def test_files_are_private_whatever_stood_there(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    folder.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("untouched")
    (folder / "a.yaml").symlink_to(elsewhere)
    (folder / "other").write_text("stays")
    output_folder.write(folder, {"a.yaml": "1", "b.yaml": "2"})
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "a.yaml": "1",
        "b.yaml": "2",
        "other": "stays",
    }
    assert elsewhere.read_text() == "untouched"
    assert {oct((folder / name).stat().st_mode & 0o777) for name in ("a.yaml", "b.yaml")} == {"0o600"}


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text("old")
    written: list[int] = []

    def full(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        output_folder.write(tmp_path, {"a.yaml": "new", "b.yaml": "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.yaml": "old"}
