"""Full disks, crashes and readers: nobody finds half of a set."""

import os
import resource
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.output import leftovers
from syncret.daemon.homes.filesystem.output.root import OutputRoot, OutputSettings
from syncret.daemon.homes.filesystem.output.secret_folder import SecretFolder
from tests.unit.daemon.homes.filesystem.output.folders import DB, NEW, OLD, Opener, hidden, names
from tests.unit.daemon.homes.filesystem.output.writes import write


@contextmanager
def file_size_limit(size: int) -> Generator[None, None, None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_stops_half_way_leaves_the_old_set(folder: SecretFolder, output: Path) -> None:
    write(folder, DB, OLD)
    with file_size_limit(4096), pytest.raises(StorageUnavailable, match="larger than this process may write"):
        write(folder, DB, {"password": b"x" * 10_000, "user": b"anna"})
    assert folder.load(DB) == OLD
    assert hidden(output) == []


def test_a_first_write_that_stops_half_way_leaves_nothing(folder: SecretFolder, output: Path) -> None:
    with file_size_limit(4096), pytest.raises(StorageUnavailable):
        write(folder, DB, {"password": b"x" * 10_000})
    assert folder.load(DB) is None
    assert names(output / "default") == []


@pytest.mark.parametrize("swaps", [True, False], ids=["swap", "file-by-file"])
def test_a_full_disk_leaves_the_old_set(open_tree: Opener, small_disk: Path, swaps: bool) -> None:  # noqa: FBT001  # a parameter of a table
    output = small_disk / "out"
    folder = SecretFolder(open_tree(OutputSettings(fsync=False, exchange=swaps), path=output))
    write(folder, DB, OLD)
    with pytest.raises(StorageUnavailable, match="no space is left") as caught:
        write(folder, DB, {"password": b"x" * 1_000_000, "user": b"anna"})
    assert "free some space" in caught.value.hint
    assert folder.load(DB) == OLD
    assert hidden(output) == []
    assert write(folder, DB, NEW).changed
    assert folder.load(DB) == NEW


def read_opened(folder: int) -> dict[str, bytes]:
    """The set in an open folder, as the documentation says to read it."""
    found: dict[str, bytes] = {}
    for name in os.listdir(folder):
        file = os.open(name, os.O_RDONLY, dir_fd=folder)
        found[name] = os.read(file, 100)
        os.close(file)
    return found


def test_who_has_opened_a_set_reads_it_to_the_end(open_tree: Opener, output: Path) -> None:
    tree = open_tree(OutputSettings(fsync=False))
    folder = SecretFolder(tree)
    write(folder, DB, OLD)
    opened = os.open(output / "default/db", os.O_RDONLY)
    try:
        write(folder, DB, NEW)
        write(folder, DB, {"host": b"db.example"})
        assert read_opened(opened) == OLD
        tree.remove_sets()
        assert read_opened(opened) == OLD, "not before a second is over"
        tree.remove_sets(now=True)
        assert read_opened(opened) == {}
        assert hidden(output) == []
    finally:
        os.close(opened)


def test_sets_that_are_kept_for_readers_are_so_many(
    open_tree: Opener, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "MOST_KEPT", 2)
    folder = SecretFolder(open_tree(OutputSettings(fsync=False)))
    for number in range(5):
        write(folder, DB, {"password": b"%d" % number})
    kept = sorted((Path(each) / "password").read_bytes() for each in hidden(output))
    assert kept == [b"2", b"3"]


def test_sets_that_are_kept_for_readers_make_room_for_new_ones(open_tree: Opener, small_disk: Path) -> None:
    """A disk that holds two sets is large enough, as before."""
    output = small_disk / "out"
    folder = SecretFolder(open_tree(OutputSettings(fsync=False), path=output))
    size = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize * 2 // 5
    for letter in (b"a", b"b", b"c"):
        assert write(folder, DB, {"password": letter * size}).changed
        assert folder.load(DB) == {"password": letter * size}


def test_what_closes_leaves_no_replaced_set(output: Path) -> None:
    tree = OutputRoot(str(output), OutputSettings(fsync=False))
    folder = SecretFolder(tree)
    write(folder, DB, OLD)
    write(folder, DB, NEW)
    assert hidden(output)
    tree.close()
    assert hidden(output) == []


def test_a_read_only_disk_is_told(open_tree: Opener, small_disk: Path) -> None:
    output = small_disk / "out"
    folder = SecretFolder(open_tree(path=output))
    write(folder, DB, OLD)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StorageUnavailable, match="read-only"):
        write(folder, DB, NEW)
    assert folder.load(DB) == OLD
    with pytest.raises(StorageUnavailable, match="read-only"):
        open_tree(path=small_disk / "other")


def test_orphans_of_a_crash_are_swept_at_the_start(open_tree: Opener, output: Path) -> None:
    (output / "default/..syncret-1a-0").mkdir(parents=True)
    (output / "default/..syncret-1a-0/password").write_bytes(b"old")
    (output / "default/..syncret-1a-1").write_bytes(b"half a manifest")
    (output / "..syncret-1a-2").mkdir()
    (output / "default/db").mkdir()
    (output / "default/db/..syncret-1a-3").write_bytes(b"half a key")
    tree = open_tree(OutputSettings(fsync=False, exchange=False))
    assert not tree.swaps
    assert hidden(output) == []
    assert SecretFolder(tree).load(DB) == {}


@pytest.mark.parametrize(
    "place", ["..syncret-1a-0", "default/..syncret-1a-0"], ids=["of the output folder", "of a namespace"]
)
def test_a_leftover_that_cannot_be_removed_keeps_nobody_from_writing(
    open_tree: Opener, output: Path, place: str
) -> None:
    (output / place / "folder").mkdir(parents=True)
    (output / "default/..syncret-1a-1").mkdir(parents=True)
    tree = open_tree()
    assert hidden(output) == [str(output / place)]
    assert write(SecretFolder(tree), DB, OLD).changed
    [problem] = tree.leftovers()
    assert problem.source == str(output / place)
    assert problem.problem.message.startswith("what an earlier run left behind cannot be removed: ")
    tree.remove_leftovers()
    assert len(tree.leftovers()) == 1
    (output / place / "folder").rmdir()
    tree.remove_leftovers()
    assert tree.leftovers() == []
    assert hidden(output) == []


def test_a_leftover_that_somebody_else_removes_is_none(open_tree: Opener, output: Path) -> None:
    (output / "default/..syncret-1a-0/folder").mkdir(parents=True)
    tree = open_tree()
    (output / "default").rename(output / "aside")
    tree.remove_leftovers()
    assert tree.leftovers() == []


def test_two_processes_do_not_share_an_output_folder(open_tree: Opener) -> None:
    open_tree()
    with pytest.raises(StorageUnavailable, match="another syncret"):
        open_tree()


def test_an_output_folder_that_was_removed_is_made_again(
    folder: SecretFolder, output: Path, tmp_path: Path
) -> None:
    write(folder, DB, OLD)
    output.rename(tmp_path / "aside")
    (tmp_path / "aside/default").rename(tmp_path / "default")
    (tmp_path / "aside").rmdir()
    assert folder.load(DB) is None
    assert write(folder, DB, NEW).changed
    assert folder.load(DB) == NEW


def test_a_reader_never_finds_a_torn_set(open_tree: Opener, output: Path) -> None:
    """Every reader opens the folder once and reads from it: it must find one number in all files, always."""
    folder = SecretFolder(open_tree())
    write(folder, DB, {"a": b"0", "b": b"0"})
    stop = threading.Event()
    seen: list[set[bytes]] = []

    def read() -> None:
        while not stop.is_set():
            fd = os.open(output / "default/db", os.O_RDONLY | os.O_DIRECTORY)
            try:
                files = [os.open(name, os.O_RDONLY, dir_fd=fd) for name in ("a", "b")]
            except FileNotFoundError:  # the set was replaced and removed under us: not torn, gone
                continue
            finally:
                os.close(fd)
            seen.append({os.read(file, 10) for file in files})
            for file in files:
                os.close(file)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(500):
        write(folder, DB, {"a": b"%d" % number, "b": b"%d" % number})
    stop.set()
    reader.join()
    assert seen
    assert all(len(values) == 1 for values in seen)
