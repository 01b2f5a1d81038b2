"""Modes, owners, and links and folders in the way: nothing is redirected or taken from others."""

import os
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.output.root import OutputRoot, OutputSettings
from syncret.daemon.homes.filesystem.output.secret_folder import SecretFolder
from tests.unit.daemon.homes.filesystem.output.folders import DB, NEW, OLD, Opener, hidden, names
from tests.unit.daemon.homes.filesystem.output.writes import write

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")


FOR_A_GROUP = OutputSettings(fsync=False, folder_mode=0o750, file_mode=0o640)
MODES = {"default": 0o750, "default/db": 0o750, "default/db/user": 0o640, "default/db/password": 0o640}


def modes(output: Path) -> dict[str, int]:
    """The mode of each file and folder."""
    return {str(path.relative_to(output)): stat.S_IMODE(path.stat().st_mode) for path in output.rglob("*")}


def test_modes_of_the_settings_hold_whatever_the_umask(open_tree: Opener, output: Path) -> None:
    mask = os.umask(0o077)
    try:
        folder = SecretFolder(open_tree(FOR_A_GROUP))
        write(folder, DB, OLD)
    finally:
        os.umask(mask)
    assert modes(output) == MODES


def test_new_settings_reach_old_folders_at_the_next_write(open_tree: Opener, output: Path) -> None:
    tree = OutputRoot(str(output), OutputSettings(fsync=False))
    write(SecretFolder(tree), DB, OLD)
    tree.close()
    tree = open_tree(FOR_A_GROUP)
    assert write(SecretFolder(tree), DB, OLD).changed
    tree.remove_sets(now=True)
    assert modes(output) == MODES


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
    with pytest.raises(StorageUnavailable) as caught:
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

    with pytest.raises(StorageUnavailable) as caught:
        attempt()
    assert caught.value.hint
    assert sorted(elsewhere.rglob("*")) == before
    assert victim.is_symlink()


@pytest.mark.parametrize("which", ["out", "out/default", "out/default/db"])
def test_a_file_in_the_way_is_refused(open_tree: Opener, tmp_path: Path, which: str) -> None:
    victim = tmp_path / which
    victim.parent.mkdir(parents=True, exist_ok=True)
    victim.write_bytes(b"mine")
    with pytest.raises(StorageUnavailable):
        write(SecretFolder(open_tree()), DB, OLD)
    assert victim.read_bytes() == b"mine"


@pytest.mark.parametrize("act", ["write", "remove"])
def test_a_folder_that_holds_folders_is_not_ours_to_replace(
    open_tree: Opener, output: Path, act: str
) -> None:
    (output / "default/db/precious").mkdir(parents=True)
    folder = SecretFolder(open_tree())
    with pytest.raises(StorageUnavailable, match="holds other folders"):
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
            except StorageUnavailable:
                continue
    finally:
        stop.set()
        attacker.join()
    assert names(trap) == ["keep"]


def test_an_output_folder_with_too_long_a_name_is_told(open_tree: Opener, tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match="the name is too long"):
        open_tree(path=tmp_path / ("x" * 256))


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_folder_that_cannot_be_given_its_mode_leaves_nothing_open(
    open_tree: Opener, small_disk: Path
) -> None:
    output = small_disk / "out"
    first = OutputRoot(str(output), OutputSettings(fsync=False))
    write(SecretFolder(first), DB, OLD)
    first.close()
    folder = SecretFolder(open_tree(OutputSettings(fsync=False, folder_mode=0o750), output))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    before = open_files()
    for _ in range(3):
        with pytest.raises(StorageUnavailable, match="read-only"):
            write(folder, DB, NEW)
    assert open_files() == before


@root_only
def test_folders_that_only_their_owner_may_open_are_left_alone() -> None:
    """The root of a file system has a `lost+found`, and a daemon need not be root."""
    nobody = 65534
    with TemporaryDirectory() as above:
        output = Path(above) / "out"
        (output / "lost+found").mkdir(parents=True, mode=0o700)
        (output / "default/lost+found").mkdir(parents=True, mode=0o700)
        for path in (Path(above), output, output / "default"):
            path.chmod(0o755)
        os.chown(output, nobody, -1)
        os.chown(output / "default", nobody, -1)
        os.seteuid(nobody)
        try:
            tree = OutputRoot(str(output), OutputSettings(fsync=False, exchange=False))
            assert write(SecretFolder(tree), DB, OLD).changed
            tree.close()
        finally:
            os.seteuid(0)
        assert (output / "default/db/user").exists()
