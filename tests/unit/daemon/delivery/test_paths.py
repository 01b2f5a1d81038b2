"""Paths to deliver to: no link is followed, and no folder is used that others could change."""

import os
import re
from pathlib import Path

import pytest

from syncret.daemon.delivery.paths import Moved, Refused, Trust, opened

TRUST = Trust.of_process()


def refused(path: Path, trust: Trust = TRUST) -> Refused:
    with pytest.raises(Refused) as caught, opened(str(path), trust):
        pass
    return caught.value


def test_a_place_is_a_name_in_an_open_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1")
    with opened(str(tmp_path / "x"), TRUST) as place:
        assert os.fstat(place.folder).st_ino == tmp_path.stat().st_ino
        status = place.status()
        assert status is not None
        assert status.st_size == 1
        assert place.status(place.staged) is None
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(place.folder)


def test_missing_folders_are_made_for_all_to_enter(tmp_path: Path) -> None:
    with opened(str(tmp_path / "a" / "b" / "x"), TRUST):
        pass
    for folder in ("a", "a/b"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o755


def test_without_making_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), opened(str(tmp_path / "a" / "x"), TRUST, make=False):
        pass
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed_not_even_ones_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    error = refused(tmp_path / "link" / "x")
    assert str(error) == f"{tmp_path}/link is a symbolic link, and none is followed"
    assert error.hint == f"name what it leads to: {tmp_path}/real"
    assert list((tmp_path / "real").iterdir()) == []


def test_something_else_in_the_way_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert str(refused(tmp_path / "fifo" / "x")) == f"{tmp_path}/fifo is no folder"


@pytest.mark.parametrize(
    ("mode", "who"),
    [
        pytest.param(0o770, "group [0-9]+", id="group"),
        pytest.param(0o777, "everybody", id="everybody"),
        pytest.param(0o1777, "everybody", id="sticky, and directly above"),
    ],
)
def test_a_folder_that_others_write_to_is_refused(tmp_path: Path, mode: int, who: str) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    error = refused(folder / "x")
    assert re.fullmatch(rf"{folder} is writable by {who}", str(error))
    assert error.hint == f"chmod go-w {folder}"


def test_a_sticky_folder_further_up_is_no_danger(tmp_path: Path) -> None:
    (tmp_path / "sticky" / "own").mkdir(parents=True)
    (tmp_path / "sticky").chmod(0o1777)
    with opened(str(tmp_path / "sticky" / "own" / "x"), TRUST):
        pass


def test_an_open_folder_further_up_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open" / "own").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    assert "open is writable by everybody" in str(refused(tmp_path / "open" / "own" / "x"))


@pytest.mark.skipif(os.geteuid() != 0, reason="gives folders away")
def test_a_folder_of_somebody_else_is_refused_unless_the_target_becomes_theirs(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 12345, -1)
    assert "belongs to uid 12345" in str(refused(folder / "x"))
    with opened(str(folder / "x"), Trust.of_process(last=12345)):
        pass
    (folder / "inner").mkdir()
    assert "belongs to uid 12345" in str(refused(folder / "inner" / "x", Trust.of_process(last=12345)))


def test_a_mount_point_is_no_target() -> None:
    error = refused(Path("/proc"))
    assert str(error) == "/proc is a mount point, which cannot be swapped"
    assert "layout: links" in error.hint


def test_a_folder_that_was_moved_away_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with opened(str(tmp_path / "a" / "x"), TRUST) as place:
        place.check_current()
        (tmp_path / "a").rename(tmp_path / "b")
        with pytest.raises(Moved):
            place.check_current()
        (tmp_path / "a").mkdir()
        with pytest.raises(Moved):
            place.check_current()
        (tmp_path / "a").rmdir()
        (tmp_path / "a").symlink_to("b")
        with pytest.raises(Refused):
            place.check_current()
