"""Files and folders of a Delivery: staged, swapped, swapped back; never torn, never half, never elsewhere."""

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from syncret.daemon.delivery import targets
from syncret.daemon.delivery.making import Permissions
from syncret.daemon.delivery.paths import Moved, Place, Refused, Trust, opened
from syncret.daemon.delivery.targets import FileTarget, FolderTarget

PAIR = {"server.pem": b"cert 1", "server.key": b"key 1"}
NEXT = {"server.pem": b"cert 2", "server.key": b"key 2"}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    (tmp_path / "srv").mkdir(mode=0o755)
    with opened(str(tmp_path / "srv" / "tls"), Trust.of_process()) as found:
        yield found


@pytest.fixture
def srv(tmp_path: Path) -> Path:
    return tmp_path / "srv"


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def deliver(target: FolderTarget, content: dict[str, bytes]) -> None:
    target.stage(content, ours=True)
    target.swap()


def test_a_folder_goes_live_as_a_whole(place: Place, srv: Path) -> None:
    target = FolderTarget(place, Permissions(mode=0o440, folder_mode=0o750))
    staged = target.stage(PAIR, ours=False)
    assert names(srv) == {"..syncret-next.tls"}
    assert not target.is_live(staged)
    target.swap()
    assert target.is_live(staged)
    assert files(srv / "tls") == PAIR
    assert target.live() == PAIR
    assert target.is_right(PAIR)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (srv / "tls").iterdir()} == {0o440}
    assert stat.S_IMODE((srv / "tls").stat().st_mode) == 0o750
    assert names(srv) == {"tls"}


def test_the_set_before_stays_until_it_is_discarded(place: Place, srv: Path) -> None:
    target = FolderTarget(place, Permissions())
    deliver(target, PAIR)
    deliver(target, NEXT)
    assert files(srv / "tls") == NEXT
    assert files(srv / "..syncret-old.tls") == PAIR
    target.discard_previous()
    assert names(srv) == {"tls"}


def test_a_folder_goes_back(place: Place, srv: Path) -> None:
    target = FolderTarget(place, Permissions())
    deliver(target, PAIR)
    inode = (srv / "tls").stat().st_ino
    deliver(target, NEXT)
    target.swap_back()
    assert files(srv / "tls") == PAIR
    assert (srv / "tls").stat().st_ino == inode
    assert names(srv) == {"tls"}


def test_the_first_set_goes_back_to_nothing(place: Place, srv: Path) -> None:
    target = FolderTarget(place, Permissions())
    deliver(target, PAIR)
    target.swap_back()
    assert names(srv) == set()


def test_files_that_stay_are_the_same_files(place: Place, srv: Path) -> None:
    target = FolderTarget(place, Permissions())
    deliver(target, PAIR)
    before = (srv / "tls" / "server.pem").stat()
    deliver(target, {**PAIR, "server.key": b"key 2"})
    after = (srv / "tls" / "server.pem").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_with_another_mode_is_not_linked_into_the_new_set(place: Place, srv: Path) -> None:
    deliver(FolderTarget(place, Permissions(mode=0o400)), PAIR)
    deliver(FolderTarget(place, Permissions(mode=0o440)), PAIR)
    assert stat.S_IMODE((srv / "tls" / "server.pem").stat().st_mode) == 0o440
    assert stat.S_IMODE((srv / "..syncret-old.tls" / "server.pem").stat().st_mode) == 0o400


def _edit(tls: Path) -> None:
    (tls / "server.pem").write_bytes(b"edited")


def _remove(tls: Path) -> None:
    (tls / "server.pem").unlink()


def _add(tls: Path) -> None:
    (tls / "more").write_bytes(b"")


def _open(tls: Path) -> None:
    (tls / "server.pem").chmod(0o444)


def _open_folder(tls: Path) -> None:
    tls.chmod(0o755)


@pytest.mark.parametrize("touch", [_edit, _remove, _add, _open, _open_folder])
def test_drift_is_seen(place: Place, srv: Path, touch: Callable[[Path], None]) -> None:
    target = FolderTarget(place, Permissions(mode=0o600))
    deliver(target, PAIR)
    assert target.is_right(PAIR)
    touch(srv / "tls")
    assert not target.is_right(PAIR)


@pytest.mark.parametrize("after", ["stage", "exchange", "swap"])
def test_a_crash_leaves_one_whole_set_and_is_rolled_forward(
    place: Place, srv: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    target = FolderTarget(place, Permissions())
    deliver(target, PAIR)
    target.discard_previous()
    staged = target.stage(NEXT, ours=True)
    if after == "exchange":
        monkeypatch.setattr(FolderTarget, "_keep_previous", _crash)
        with pytest.raises(_Crash):
            target.swap()
        monkeypatch.undo()
    elif after == "swap":
        target.swap()
    assert files(srv / "tls") == (PAIR if after == "stage" else NEXT)

    again = FolderTarget(place, Permissions())
    if not again.is_live(staged):
        again.swap()
    again.finish(staged)
    assert files(srv / "tls") == NEXT
    assert files(srv / "..syncret-old.tls") == PAIR
    assert names(srv) == {"tls", "..syncret-old.tls"}


@pytest.mark.slow  # thousands of swaps under a reader
def test_no_reader_of_one_path_ever_misses_it(place: Place, srv: Path) -> None:
    target = FolderTarget(place, Permissions())
    deliver(target, PAIR)
    stop = threading.Event()
    seen: set[bytes] = set()
    failures: list[OSError] = []

    def read() -> None:
        while not stop.is_set():
            try:
                seen.add((srv / "tls" / "server.pem").read_bytes())
            except OSError as error:
                failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(100):
        deliver(target, {"server.pem": b"%d" % number})
    stop.set()
    reader.join()
    assert failures == []
    assert seen


def test_what_somebody_else_put_there_is_refused_unless_it_is_adopted(place: Place, srv: Path) -> None:
    (srv / "tls").mkdir()
    (srv / "tls" / "old").write_bytes(b"x")
    target = FolderTarget(place, Permissions())
    with pytest.raises(Refused, match="holds what syncret did not write") as caught:
        target.stage(PAIR, ours=False)
    assert caught.value.hint == "move it away; adopt: true takes it over in a directory, a file or an envFile"
    assert names(srv) == {"tls"}
    deliver(target, PAIR)
    assert files(srv / "tls") == PAIR


def test_a_file_goes_live_and_back(place: Place, srv: Path) -> None:
    target = FileTarget(place, Permissions(mode=0o440))
    for content in (b"one", b"two"):
        staged = target.stage(content, ours=True)
        target.swap()
        assert target.is_live(staged)
        assert target.live() == content
        assert target.is_right(content)
    assert (srv / "..syncret-old.tls").read_bytes() == b"one"
    target.swap_back()
    assert target.live() == b"one"
    assert names(srv) == {"tls"}


def test_a_link_in_the_place_of_the_file_is_replaced_and_its_victim_untouched(
    place: Place, srv: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (srv / "tls").symlink_to(victim)
    (srv / "..syncret-next.tls").symlink_to(victim)
    target = FileTarget(place, Permissions())
    assert target.live() is None
    target.stage(b"new", ours=False)
    target.swap()
    assert (srv / "tls").read_bytes() == b"new"
    assert not (srv / "tls").is_symlink()
    assert victim.read_bytes() == b"precious"


def test_a_hard_link_to_a_victim_is_replaced(place: Place, srv: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    os.link(victim, srv / "tls")
    target = FileTarget(place, Permissions())
    target.stage(b"new", ours=True)
    target.swap()
    target.discard_previous()
    assert victim.read_bytes() == b"precious"
    assert (srv / "tls").read_bytes() == b"new"


def test_a_fifo_is_not_waited_for(place: Place, srv: Path) -> None:
    os.mkfifo(srv / "tls")
    target = FileTarget(place, Permissions())
    assert target.live() is None
    with pytest.raises(Refused, match="another file type than the target"):
        target.stage(b"new", ours=False)


def test_nothing_is_written_to_a_folder_that_was_moved_away(place: Place, srv: Path) -> None:
    target = FileTarget(place, Permissions())
    target.stage(b"one", ours=False)
    srv.rename(srv.parent / "away")
    srv.mkdir(mode=0o755)
    with pytest.raises(Moved):
        target.swap()
    assert names(srv) == set()
    assert names(srv.parent / "away") == {"..syncret-next.tls"}


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_a_leftover_that_is_not_ours_is_named_and_left(place: Place, srv: Path) -> None:
    (srv / "..syncret-next.tls").write_bytes(b"theirs")
    os.chown(srv / "..syncret-next.tls", 12345, -1)
    with pytest.raises(Refused, match=r"\.\.syncret-next\.tls belongs to uid 12345"):
        FileTarget(place, Permissions()).stage(b"new", ours=True)
    assert (srv / "..syncret-next.tls").read_bytes() == b"theirs"


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_owner_and_group_are_given_before_the_name(place: Place, srv: Path) -> None:
    FileTarget(place, Permissions(uid=12345, gid=54321, mode=0o640)).stage(b"x", ours=True)
    status = (srv / "..syncret-next.tls").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 54321, 0o640)


def test_without_an_exchange_a_file_is_renamed_and_a_folder_refused(
    place: Place, srv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = FileTarget(place, Permissions())
    file.stage(b"one", ours=True)
    file.swap()
    monkeypatch.setattr(targets, "exchange", _no_exchange)
    file.stage(b"two", ours=True)
    file.swap()
    assert ((srv / "tls").read_bytes(), (srv / "..syncret-old.tls").read_bytes()) == (b"two", b"one")
    file.swap_back()
    assert file.live() == b"one"

    file.remove()
    folder = FolderTarget(place, Permissions())
    deliver(folder, PAIR)
    folder.stage(NEXT, ours=True)
    with pytest.raises(Refused, match="cannot exchange folders") as caught:
        folder.swap()
    assert "layout: links" in caught.value.hint
    assert files(srv / "tls") == PAIR


def test_a_full_disk_leaves_the_old_set(place: Place, srv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = FolderTarget(place, Permissions())
    deliver(target, PAIR)
    monkeypatch.setattr("syncret.daemon.delivery.making.write_all", _no_space)
    with pytest.raises(OSError, match="No space"):
        target.stage(NEXT, ours=True)
    monkeypatch.undo()
    target.discard_staged()
    assert files(srv / "tls") == PAIR
    assert names(srv) == {"tls"}


def test_a_set_of_many_files_keeps_few_open_and_none_when_it_fails(
    place: Place, srv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {f"key-{number}": b"%d" % number for number in range(200)}
    target, before = FolderTarget(place, Permissions()), _open_files()
    most: list[int] = []

    def write(fd: int, content: bytes) -> None:
        most.append(_open_files())
        if len(most) > len(many):
            _no_space()
        os.write(fd, content)

    monkeypatch.setattr("syncret.daemon.delivery.making.write_all", write)
    deliver(target, many)
    assert files(srv / "tls") == many
    assert max(most) - before < 80
    with pytest.raises(OSError, match="No space"):
        target.stage(NEXT, ours=True)
    assert _open_files() == before


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


class _Crash(Exception):
    pass


def _crash(_: object) -> None:
    raise _Crash


def _no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _no_exchange(*_: object) -> bool:
    return False
