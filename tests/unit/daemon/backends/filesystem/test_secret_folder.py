import os
import resource
import stat
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.backends.contract import Invalid, TargetUnavailable
from syncret.daemon.backends.filesystem.secret_folder import SecretFolder
from syncret.daemon.backends.filesystem.tree import OutputSettings, OutputTree
from tests.unit.daemon.backends.filesystem.writes import write

DB = ObjectRef("", "Secret", "default", "db")
OLD = {"user": b"anna", "password": b"old"}
NEW = {"user": b"anna", "password": b"new", "host": b"db.example"}

Opener = Callable[..., OutputTree]

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")


@pytest.fixture(params=[True, False], ids=["swap", "file-by-file"])
def folder(request: pytest.FixtureRequest, open_tree: Opener) -> SecretFolder:
    return SecretFolder(open_tree(OutputSettings(fsync=False, exchange=request.param)))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def hidden(output: Path) -> list[str]:
    return [str(path) for path in output.rglob("..*")]


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


def test_modes_of_the_settings_hold_whatever_the_umask(open_tree: Opener, output: Path) -> None:
    mask = os.umask(0o077)
    try:
        folder = SecretFolder(open_tree(OutputSettings(fsync=False, folder_mode=0o750, file_mode=0o640)))
        write(folder, DB, OLD)
    finally:
        os.umask(mask)
    modes = {str(path.relative_to(output)): stat.S_IMODE(path.stat().st_mode) for path in output.rglob("*")}
    assert modes == {
        "default": 0o750,
        "default/db": 0o750,
        "default/db/user": 0o640,
        "default/db/password": 0o640,
    }


def test_new_settings_reach_old_folders_at_the_next_write(open_tree: Opener, output: Path) -> None:
    tree = OutputTree(str(output), OutputSettings(fsync=False))
    write(SecretFolder(tree), DB, OLD)
    tree.close()
    tree = open_tree(OutputSettings(fsync=False, folder_mode=0o750, file_mode=0o640))
    assert write(SecretFolder(tree), DB, OLD).changed
    modes = {str(path.relative_to(output)): stat.S_IMODE(path.stat().st_mode) for path in output.rglob("*")}
    assert modes == {
        "default": 0o750,
        "default/db": 0o750,
        "default/db/user": 0o640,
        "default/db/password": 0o640,
    }


@root_only
def test_owner_and_group_are_given(open_tree: Opener, output: Path) -> None:
    folder = SecretFolder(open_tree(OutputSettings(fsync=False, uid=1234, gid=4321)))
    write(folder, DB, OLD)
    write(folder, DB, NEW)
    assert {(path.stat().st_uid, path.stat().st_gid) for path in output.rglob("*")} == {(1234, 4321)}
    assert not write(folder, DB, NEW).changed
    os.chown(output / "default/db/user", 0, 0)
    assert write(folder, DB, NEW).changed
    assert (output / "default/db/user").stat().st_uid == 1234


@root_only
@pytest.mark.parametrize("which", ["", "default", "default/db"])
def test_folders_of_someone_else_are_refused(open_tree: Opener, output: Path, which: str) -> None:
    (output / "default/db").mkdir(parents=True)
    (output / "default/db/theirs").write_bytes(b"x")
    os.chown(output / which, 1234, 1234)
    with pytest.raises(TargetUnavailable) as caught:
        write(SecretFolder(open_tree()), DB, OLD)
    assert "another user (uid 1234)" in str(caught.value)
    assert caught.value.hint
    assert names(output / "default/db") == ["theirs"]


@pytest.mark.parametrize("which", ["out", "out/default", "out/default/db"])
@pytest.mark.parametrize("act", ["write", "remove", "load"])
def test_links_are_refused_and_not_followed(
    open_tree: Opener, output: Path, tmp_path: Path, which: str, act: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "default/db").mkdir(parents=True)
    (elsewhere / "db").mkdir()
    victim = tmp_path / which
    victim.parent.mkdir(parents=True, exist_ok=True)
    victim.symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))

    def attempt() -> None:
        folder = SecretFolder(open_tree())
        acts: dict[str, Callable[[], object]] = {
            "write": lambda: write(folder, DB, OLD),
            "remove": lambda: folder.remove(DB),
            "load": lambda: folder.load(DB),
        }
        acts[act]()

    with pytest.raises(TargetUnavailable) as caught:
        attempt()
    assert caught.value.hint
    assert sorted(elsewhere.rglob("*")) == before
    assert victim.is_symlink()


@pytest.mark.parametrize("which", ["out", "out/default", "out/default/db"])
def test_a_file_in_the_way_is_refused(open_tree: Opener, tmp_path: Path, which: str) -> None:
    victim = tmp_path / which
    victim.parent.mkdir(parents=True, exist_ok=True)
    victim.write_bytes(b"mine")
    with pytest.raises(TargetUnavailable):
        write(SecretFolder(open_tree()), DB, OLD)
    assert victim.read_bytes() == b"mine"


@pytest.mark.parametrize("act", ["write", "remove"])
def test_a_folder_that_holds_folders_is_not_ours_to_replace(
    open_tree: Opener, output: Path, act: str
) -> None:
    (output / "default/db/precious").mkdir(parents=True)
    folder = SecretFolder(open_tree())
    with pytest.raises(TargetUnavailable, match="holds other folders"):
        _ = write(folder, DB, OLD) if act == "write" else folder.remove(DB)
    assert (output / "default/db/precious").is_dir()
    assert hidden(output) == []


def test_a_name_swapped_for_a_link_while_we_work_redirects_nothing(
    open_tree: Opener, output: Path, tmp_path: Path
) -> None:
    """An attacker who owns the parent flips the Secret's name between a folder and a link all the time."""
    folder = SecretFolder(open_tree())
    write(folder, DB, OLD)
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "keep").write_bytes(b"x")
    stop = threading.Event()

    def flip() -> None:
        name, aside = output / "default/db", tmp_path / "aside"
        while not stop.is_set():
            try:
                name.rename(aside)
                name.symlink_to(trap)
                name.unlink()
                aside.rename(name)
            except OSError:
                continue

    attacker = threading.Thread(target=flip)
    attacker.start()
    try:
        for number in range(300):
            try:
                write(folder, DB, {"password": b"%d" % number})
                folder.load(DB)
            except TargetUnavailable:
                continue
    finally:
        stop.set()
        attacker.join()
    assert names(trap) == ["keep"]


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
    with file_size_limit(4096), pytest.raises(TargetUnavailable, match="larger than this process may write"):
        write(folder, DB, {"password": b"x" * 10_000, "user": b"anna"})
    assert folder.load(DB) == OLD
    assert hidden(output) == []


def test_a_first_write_that_stops_half_way_leaves_nothing(folder: SecretFolder, output: Path) -> None:
    with file_size_limit(4096), pytest.raises(TargetUnavailable):
        write(folder, DB, {"password": b"x" * 10_000})
    assert folder.load(DB) is None
    assert names(output / "default") == []


@pytest.mark.parametrize("swaps", [True, False], ids=["swap", "file-by-file"])
def test_a_full_disk_leaves_the_old_set(open_tree: Opener, small_disk: Path, swaps: bool) -> None:  # noqa: FBT001  # a parameter of a table
    output = small_disk / "out"
    folder = SecretFolder(open_tree(OutputSettings(fsync=False, exchange=swaps), path=output))
    write(folder, DB, OLD)
    with pytest.raises(TargetUnavailable, match="no space is left") as caught:
        write(folder, DB, {"password": b"x" * 1_000_000, "user": b"anna"})
    assert "free some space" in caught.value.hint
    assert folder.load(DB) == OLD
    assert hidden(output) == []
    assert write(folder, DB, NEW).changed
    assert folder.load(DB) == NEW


def test_a_read_only_disk_is_told(open_tree: Opener, small_disk: Path) -> None:
    output = small_disk / "out"
    folder = SecretFolder(open_tree(path=output))
    write(folder, DB, OLD)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(TargetUnavailable, match="read-only"):
        write(folder, DB, NEW)
    assert folder.load(DB) == OLD
    with pytest.raises(TargetUnavailable, match="read-only"):
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


def test_two_processes_do_not_share_an_output_folder(open_tree: Opener) -> None:
    open_tree()
    with pytest.raises(TargetUnavailable, match="another syncret"):
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


def test_writing_durably_makes_the_same_files(open_tree: Opener) -> None:
    folder = SecretFolder(open_tree(OutputSettings()))
    write(folder, DB, OLD)
    write(folder, DB, NEW)
    assert folder.load(DB) == NEW
    assert folder.remove(DB)
    assert folder.load(DB) is None


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
