import ctypes
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from syncret.daemon.files import syscalls
from syncret.daemon.files.syscalls import (
    OPEN_FOLDER,
    FolderIdentity,
    exchange,
    folder_identity,
    is_mount_root,
    rename_new,
)
from tests.unit.daemon.homes.filesystem.homes import made_anew


def test_a_folder_keeps_its_identity_while_its_content_changes(tmp_path: Path) -> None:
    before = folder_identity(str(tmp_path))
    (tmp_path / "a.yaml").write_text("x")
    tmp_path.chmod(0o711)
    assert folder_identity(str(tmp_path)) == before
    (tmp_path.parent / "link").symlink_to(tmp_path)
    assert folder_identity(str(tmp_path.parent / "link")) == before


def test_a_folder_made_anew_under_its_old_number_is_another_one(tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    identities: list[FolderIdentity] = []

    def remember() -> None:
        identities.append(folder_identity(str(folder)))

    made_anew(folder, before=remember)
    remember()
    [*_, (device, number, birth), after] = identities
    assert after[:2] == (device, number)
    assert after[2] > birth


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        folder_identity(str(tmp_path / "none"))


def _refused(*_: object) -> int:
    ctypes.set_errno(errno.EPERM)
    return -1


@pytest.mark.parametrize("statx", [None, _refused], ids=["an-old-c-library", "a-sandbox"])
def test_where_the_birth_time_cannot_be_asked_for_the_number_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statx: Callable[..., int] | None
) -> None:
    monkeypatch.setattr(syscalls, "_statx", statx)
    status = tmp_path.stat()
    assert folder_identity(str(tmp_path)) == (status.st_dev, status.st_ino, 0)


def test_two_names_are_swapped_at_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").mkdir()
    folder = os.open(tmp_path, OPEN_FOLDER)
    try:
        assert exchange(folder, "a", "b")
    finally:
        os.close(folder)
    assert (tmp_path / "a").is_dir()
    assert (tmp_path / "b").read_text() == "a"


def test_a_new_name_replaces_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    folder = os.open(tmp_path, OPEN_FOLDER)
    try:
        with pytest.raises(FileExistsError):
            rename_new(folder, "a", "b")
        assert rename_new(folder, "a", "c")
    finally:
        os.close(folder)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b": "b", "c": "a"}


@pytest.mark.parametrize("statx", [True, False], ids=["statx", "an-older-kernel"])
def test_mounts_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, statx: bool) -> None:
    if not statx:
        monkeypatch.setattr(syscalls, "_statx", None)
    (tmp_path / "folder").mkdir()
    root, plain = os.open("/", OPEN_FOLDER), os.open(tmp_path, OPEN_FOLDER)
    proc = os.open("/proc", OPEN_FOLDER)
    try:
        assert is_mount_root(root)
        assert is_mount_root(root, "proc")
        assert is_mount_root(proc)
        assert not is_mount_root(plain, "folder")
        with pytest.raises(FileNotFoundError):
            is_mount_root(plain, "none")
    finally:
        for each in (root, plain, proc):
            os.close(each)
