import ctypes
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from syncret.daemon.homes.filesystem.output import files
from syncret.daemon.homes.filesystem.output.files import FolderIdentity, folder_identity
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
    monkeypatch.setattr(files, "_statx", statx)
    status = tmp_path.stat()
    assert folder_identity(str(tmp_path)) == (status.st_dev, status.st_ino, 0)
