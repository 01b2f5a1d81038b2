"""A Secret is a folder and its keys are files: written whole, untouched when unchanged, repaired."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from syncret.daemon.homes.contract import Invalid
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.filesystem.output.secret_folder import SecretFolder
from tests.unit.daemon.homes.filesystem.output.folders import DB, NEW, OLD, Opener, hidden, names
from tests.unit.daemon.homes.filesystem.output.writes import write


def test_a_secret_is_a_folder_and_its_keys_are_files(folder: SecretFolder, output: Path) -> None:
    assert write(folder, DB, OLD).changed
    assert {path.name: path.read_bytes() for path in (output / "default/db").iterdir()} == OLD
    assert folder.load(DB) == OLD
    assert stat.S_IMODE((output / "default/db").stat().st_mode) == 0o700
    assert stat.S_IMODE((output / "default/db/user").stat().st_mode) == 0o600
    assert hidden(output) == []


def test_a_change_leaves_unchanged_files_untouched(folder: SecretFolder, output: Path) -> None:
    write(folder, DB, OLD)
    before = (output / "default/db/user").stat()
    assert write(folder, DB, NEW).changed
    after = (output / "default/db/user").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert folder.load(DB) == NEW
    assert write(folder, DB, {"host": b"db.example"}).changed
    assert names(output / "default/db") == ["host"]
    folder.tree.remove_sets(now=True)
    assert hidden(output) == []


def test_an_equal_set_is_not_written(folder: SecretFolder, output: Path) -> None:
    write(folder, DB, OLD)
    before = (output / "default/db").stat()
    assert not write(folder, DB, dict(reversed(OLD.items()))).changed
    after = (output / "default/db").stat()
    assert (before.st_ino, before.st_mtime_ns, before.st_ctime_ns) == (
        after.st_ino,
        after.st_mtime_ns,
        after.st_ctime_ns,
    )


def test_an_empty_secret_is_an_empty_folder(folder: SecretFolder) -> None:
    assert write(folder, DB, {}).changed
    assert folder.load(DB) == {}
    assert not write(folder, DB, {}).changed


def test_what_is_not_there_is_none(folder: SecretFolder) -> None:
    assert folder.load(DB) is None
    assert not folder.remove(DB)


def test_removal_takes_the_whole_set(folder: SecretFolder, output: Path) -> None:
    write(folder, DB, OLD)
    assert folder.remove(DB)
    assert names(output / "default") == []


def _edit(path: Path) -> None:
    (path / "password").write_bytes(b"edited")


def _delete(path: Path) -> None:
    (path / "password").unlink()


def _add(path: Path) -> None:
    (path / "extra").write_bytes(b"x")


def _open_file(path: Path) -> None:
    (path / "password").chmod(0o644)


def _open_folder(path: Path) -> None:
    path.chmod(0o755)


def _link(path: Path) -> None:
    (path / "password").unlink()
    (path / "password").symlink_to("/etc/passwd")


def _pipe(path: Path) -> None:
    (path / "password").unlink()
    os.mkfifo(path / "password")


@pytest.mark.parametrize("drift", [_edit, _delete, _add, _open_file, _open_folder, _link, _pipe])
def test_drift_is_seen_and_repaired(
    folder: SecretFolder, output: Path, drift: Callable[[Path], None]
) -> None:
    write(folder, DB, OLD)
    drift(output / "default/db")
    assert write(folder, DB, OLD).changed
    assert folder.load(DB) == OLD
    assert not write(folder, DB, OLD).changed
    assert (output / "default/db/password").lstat().st_mode == stat.S_IFREG | 0o600


def test_reading_shows_drift_but_follows_no_link(folder: SecretFolder, output: Path) -> None:
    write(folder, DB, OLD)
    path = output / "default/db"
    (path / "password").write_bytes(b"edited")
    (path / "link").symlink_to("/etc/passwd")
    os.mkfifo(path / "pipe")
    (path / "not~a~key").write_bytes(b"x")
    assert folder.load(DB) == {"user": b"anna", "password": b"edited"}


@pytest.mark.parametrize("key", ["../../etc/passwd", "a/b", "a\0b", "..", "..data", "k" * 254])
def test_a_key_that_is_a_way_out_leaves_everything_as_it_was(
    folder: SecretFolder, output: Path, key: str
) -> None:
    write(folder, DB, OLD)
    with pytest.raises(Invalid):
        write(folder, DB, {**NEW, key: b"x"})
    assert folder.load(DB) == OLD
    assert hidden(output) == []


def test_writing_durably_makes_the_same_files(open_tree: Opener) -> None:
    folder = SecretFolder(open_tree(OutputSettings()))
    write(folder, DB, OLD)
    write(folder, DB, NEW)
    assert folder.load(DB) == NEW
    assert folder.remove(DB)
    assert folder.load(DB) is None
