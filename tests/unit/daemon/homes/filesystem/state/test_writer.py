import asyncio
import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.state import database as state_file
from syncret.daemon.homes.filesystem.state.database import StateError, read_state
from syncret.daemon.homes.filesystem.state.writer import StateWriter
from tests.support.disks import filled

A = ObjectRef("external-secrets.io", "ExternalSecret", "default", "a")
B = ObjectRef("external-secrets.io", "ExternalSecret", "default", "b")


HOLDER = """
import sys
from syncret.daemon.homes.filesystem.state.writer import StateWriter
state = StateWriter(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
"""


def damage(path: str) -> None:
    """Overwrite the middle of the file."""
    with Path(path).open("r+b") as file:
        file.seek(Path(path).stat().st_size // 2)
        file.write(b"\xff" * 8192)


def content_of(path: str) -> bytes:
    return Path(path).read_bytes()


@pytest.mark.parametrize("act", ["removed", "replaced"])
async def test_a_file_that_went_from_under_us_is_told(tmp_path: Path, act: str) -> None:
    path = tmp_path / "state.db"
    state = StateWriter(str(path))
    state.check()
    path.unlink()
    if act == "replaced":
        path.write_bytes(b"")
    with pytest.raises(StateError, match="removed or replaced while it was in use") as caught:
        state.check()
    assert "start again" in caught.value.hint
    await state.aclose()


async def test_a_file_that_cannot_be_looked_at_goes_on_to_be_written(tmp_path: Path) -> None:
    folder, aside = tmp_path / "folder", tmp_path / "aside"
    state = StateWriter(str(folder / "state.db"))
    folder.rename(aside)
    folder.symlink_to(folder)
    problem = state.check()
    assert problem is not None
    assert problem.message == "the state file cannot be looked at: Too many levels of symbolic links"
    state.put(A, b"1")
    await state.durable()
    folder.unlink()
    aside.rename(folder)
    assert state.check() is None
    await state.aclose()
    assert remembered(str(folder / "state.db")) == {A: b"1"}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "state.db")


def remembered(path: str) -> dict[ObjectRef, bytes]:
    return dict(read_state(path).rows)


async def test_what_was_awaited_is_there_after_a_restart(path: str) -> None:
    state = StateWriter(path)
    state.put(A, b"1")
    state.put(B, b"1")
    state.put(A, b"2")
    state.remove(B)
    await state.durable()
    assert remembered(path) == {A: b"2"}
    await state.aclose()
    state = StateWriter(path)
    assert dict(state.remembered().rows) == {A: b"2"}
    await state.aclose()


async def test_nothing_outstanding_needs_no_waiting(path: str) -> None:
    state = StateWriter(path)
    async with asyncio.timeout(60):
        await state.durable()
    await state.aclose()


async def test_closing_writes_what_is_left(path: str) -> None:
    state = StateWriter(path)
    state.put(A, b"1")
    await state.aclose()
    assert remembered(path) == {A: b"1"}


async def test_what_comes_while_a_commit_runs_is_written_too(path: str) -> None:
    state = StateWriter(path)

    async def put(number: int) -> None:
        ref = ObjectRef("", "Secret", "default", f"s{number}")
        state.put(ref, b"x")
        await state.durable()
        assert ref in remembered(path)

    await asyncio.gather(*(put(number) for number in range(20)))
    await state.aclose()
    assert len(remembered(path)) == 20


async def test_a_cancelled_waiter_disturbs_nobody(path: str) -> None:
    state = StateWriter(path)
    state.put(A, b"1")
    waiter = asyncio.ensure_future(state.durable())
    await asyncio.sleep(0)
    waiter.cancel()
    state.put(B, b"1")
    await state.durable()
    await state.aclose()
    assert remembered(path) == {A: b"1", B: b"1"}


async def test_only_its_owner_may_read_it(path: str) -> None:
    state = StateWriter(path)
    state.put(A, b"1")
    await state.durable()
    folder = Path(path).parent
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    await state.aclose()


async def test_the_salt_stays_with_the_file(path: str, tmp_path: Path) -> None:
    state = StateWriter(path)
    salt = state.remembered().salt
    await state.aclose()
    state = StateWriter(path)
    assert state.remembered().salt == salt
    await state.aclose()
    other = StateWriter(str(tmp_path / "other.db"))
    assert other.remembered().salt != salt
    await other.aclose()


async def test_a_locked_file_is_refused_but_can_be_looked_at(path: str) -> None:
    state = StateWriter(path)
    state.put(A, b"1")
    await state.durable()
    with pytest.raises(StateError, match="another syncret") as caught:
        StateWriter(path)
    assert caught.value.hint
    assert remembered(path) == {A: b"1"}
    await state.aclose()


async def test_another_process_is_refused_too_and_a_dead_one_leaves_no_lock(path: str) -> None:
    pipe = asyncio.subprocess.PIPE
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDER, path, stdin=pipe, stdout=pipe)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"ready\n"
    with pytest.raises(StateError, match="another syncret"):
        StateWriter(path)
    holder.kill()
    await holder.communicate()
    await StateWriter(path).aclose()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"this is no database, but long enough to be looked at " * 40, id="text"),
        pytest.param(b"SQLite format 3\0" + b"\xff" * 5000, id="scrambled"),
    ],
)
def test_a_damaged_file_is_refused_and_left_alone(path: str, content: bytes) -> None:
    Path(path).parent.mkdir()
    Path(path).write_bytes(content)
    with pytest.raises(StateError, match="damaged") as caught:
        StateWriter(path)
    assert "move it away" in caught.value.hint
    assert Path(path).read_bytes() == content


async def test_damage_in_the_middle_is_found(path: str) -> None:
    state = StateWriter(path)
    for number in range(500):
        state.put(ObjectRef("", "Secret", "default", f"s{number}"), b"x" * 200)
    await state.aclose()
    damage(path)
    with pytest.raises(StateError, match="damaged"):
        StateWriter(path)


async def test_a_newer_file_is_refused_and_left_alone(path: str) -> None:
    await StateWriter(path).aclose()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    before = content_of(path)
    with pytest.raises(StateError, match="newer version") as caught:
        StateWriter(path)
    assert "run that version" in caught.value.hint
    with pytest.raises(StateError, match="newer version"):
        read_state(path)
    assert content_of(path) == before


async def test_a_file_that_has_lost_its_version_is_damaged(path: str) -> None:
    await StateWriter(path).aclose()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 0")
    database.close()
    before = content_of(path)
    for opening in (StateWriter, read_state):
        with pytest.raises(StateError, match="the state file is damaged"):
            opening(path)
    assert content_of(path) == before


def test_a_database_of_another_program_is_refused(path: str) -> None:
    Path(path).parent.mkdir()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE precious (x)")
    database.close()
    with pytest.raises(StateError, match="another program"):
        StateWriter(path)


async def test_an_older_file_is_brought_up_to_date(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state = StateWriter(path)
    state.put(A, b"1")
    await state.aclose()
    newer = (*state_file.MIGRATIONS, "CREATE TABLE more (x)", "ALTER TABLE more ADD COLUMN y")
    monkeypatch.setattr(state_file, "MIGRATIONS", newer)
    state = StateWriter(path)
    assert dict(state.remembered().rows) == {A: b"1"}
    await state.aclose()
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (3,)
        assert database.execute("SELECT x, y FROM more").fetchall() == []
    database.close()


async def test_a_migration_that_fails_changes_nothing(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await StateWriter(path).aclose()
    newer = (*state_file.MIGRATIONS, "CREATE TABLE more (x); INSERT INTO nowhere VALUES (1)")
    monkeypatch.setattr(state_file, "MIGRATIONS", newer)
    with pytest.raises(StateError):
        StateWriter(path)
    monkeypatch.undo()
    await StateWriter(path).aclose()
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT name FROM sqlite_master WHERE name = 'more'").fetchall() == []
    database.close()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StateError, match="cannot be opened") as caught:
        StateWriter(str(tmp_path / "file" / "state.db"))
    assert caught.value.hint


async def test_a_full_disk_is_told_and_what_was_given_is_written_later(small_disk: Path) -> None:
    path = str(small_disk / "state.db")
    state = StateWriter(path)
    with filled(small_disk, left=4096):
        state.put(A, b"x" * 50_000)
        with pytest.raises(StorageUnavailable, match="state file") as caught:
            await state.durable()
        assert caught.value.hint
    state.put(B, b"1")
    await state.durable()
    await state.aclose()
    assert remembered(path).keys() == {A, B}


def test_no_file_is_an_empty_state(path: str) -> None:
    assert read_state(path).rows == ()


async def test_reading_leaves_nothing_beside_the_file(path: str) -> None:
    state = StateWriter(path)
    state.put(A, b"1")
    await state.aclose()
    before = sorted(Path(path).parent.iterdir())
    assert remembered(path) == {A: b"1"}
    assert sorted(Path(path).parent.iterdir()) == before


async def test_what_another_process_writes_can_be_read(path: str) -> None:
    state = StateWriter(path)
    state.put(A, b"1")
    await state.durable()
    assert remembered(path) == {A: b"1"}
    await state.aclose()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe.db")
    with pytest.raises(StateError, match=r"pipe\.db: the state file is not a regular file"):
        StateWriter(str(pipe))


@pytest.mark.parametrize("name", ["state.db", "state.db.lock", "state.db-wal", "state.db-shm"])
def test_a_file_that_others_planted_is_refused_and_left_as_it_is(path: str, name: str) -> None:
    planted = Path(path).parent / name
    planted.parent.mkdir()
    planted.touch()
    planted.chmod(0o666)
    with pytest.raises(
        StateError, match=f"{planted}: the state file may be written to by everyone"
    ) as caught:
        StateWriter(path)
    assert f"chmod 600 {planted}" in caught.value.hint
    assert (stat.S_IMODE(planted.stat().st_mode), planted.read_bytes()) == (0o666, b"")
    planted.chmod(0o600)
    if name != "state.db-wal":
        return
    planted.unlink()
    planted.symlink_to("/etc/passwd")
    with pytest.raises(StateError, match="is a symbolic link"):
        StateWriter(path)


async def test_the_files_of_the_state_are_their_owners_alone(path: str) -> None:
    before = os.umask(0)
    try:
        state = StateWriter(path)
        state.put(A, b"1")
        await state.durable()
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in Path(path).parent.iterdir()}
        await state.aclose()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("state.db", "state.db.lock", "state.db-wal", "state.db-shm"), 0o600)


def test_a_folder_in_which_others_could_replace_the_state_is_refused(path: str) -> None:
    folder = Path(path).parent
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(
        StateError, match=f"{path}: the folder {folder} may be written to by everyone"
    ) as caught:
        StateWriter(path)
    assert f"chmod o-w {folder}" in caught.value.hint
    assert list(folder.iterdir()) == []
