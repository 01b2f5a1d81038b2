"""What the cache keeps and gives back: by age, by refusals, by room, and by what somebody did to its file."""

import os
import sqlite3
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from syncret.config.meta import ObjectRef
from syncret.daemon.cache.cache import LARGEST, OfflineCache, StoreId
from syncret.daemon.cache.errors import CacheUnusable
from syncret.daemon.cache.file import remove_file
from syncret.daemon.cache.key import Keys
from tests.unit.daemon.cache.conftest import START, Disk

REF = ObjectRef("", "Secret", "default", "database")
OTHER = REF._replace(name="other")
DATA = {"password": b"correct horse battery staple"}
STORE = StoreId(ObjectRef("external-secrets.io", "SecretStore", "default", "vault"), "spec", "default")
HOUR, DAY = 3600.0, 86400.0


def keep(cache: OfflineCache, ref: ObjectRef = REF, *, interval: float = HOUR) -> None:
    cache.keep_output(ref, "sha3", DATA, [STORE])
    cache.confirm_output(ref, cache.now(), interval)


async def test_what_was_delivered_is_there_in_the_next_life(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
        cache.keep_read(STORE, "Read password", b"value", HOUR)
    disk.later(HOUR)
    async with disk.opened() as cache:
        found, read = cache.output(REF), cache.read(STORE, "Read password")
        assert found is not None
        assert read is not None
        assert (found.data, found.confirmed_at) == (DATA, START)
        assert (read.content, read.confirmed_at) == (b"value", START)
        assert cache.stats().oldest == HOUR
        assert cache.stats().served == {"SecretStore/default/vault": 1}


async def test_no_value_and_no_name_is_in_its_files(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
        cache.keep_read(STORE, "Read password", DATA["password"], HOUR)
        await cache.records.commit()
        for path in disk.path.parent.iterdir():
            content = path.read_bytes()
            assert not any(each in content for each in (DATA["password"], b"database", b"vault", b"sha3"))
            assert path.stat().st_mode & 0o077 == 0


# ------------------------------------------------------------------------------------------------- refusals
async def test_an_access_that_was_taken_away_does_not_come_back(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
        cache.keep_read(STORE, "Read password", b"value", HOUR)
    async with disk.opened() as cache:
        cache.forget_read(STORE, "Read password")
        cache.forget_output(REF)
    async with disk.opened() as cache:
        assert cache.output(REF) is None
        assert cache.read(STORE, "Read password") is None


async def test_nothing_of_a_store_is_used_that_refused_the_login_and_all_once_it_answers(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
        cache.keep_read(STORE, "Read password", b"value", HOUR)
        cache.store_refused(STORE)
    async with disk.opened() as cache:
        assert cache.output(REF) is None
        assert cache.read(STORE, "Read password") is None
        cache.store_answered(STORE)
    async with disk.opened() as cache:
        assert cache.output(REF) is not None
        assert cache.read(STORE, "Read password") is not None


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(STORE._replace(store=OTHER), id="another store"),
        pytest.param(STORE._replace(digest="other"), id="another spec"),
        pytest.param(STORE._replace(namespace="other"), id="another namespace asks"),
    ],
)
async def test_an_answer_is_for_the_one_who_asked_and_the_store_that_gave_it(
    disk: Disk, changed: StoreId
) -> None:
    async with disk.opened() as cache:
        cache.keep_read(STORE, "Read password", b"value", HOUR)
        assert cache.read(changed, "Read password") is None


# ------------------------------------------------------------------------------------------------------ age
async def test_what_is_too_old_is_withdrawn_until_it_is_confirmed(disk: Disk) -> None:
    disk.settings = replace(disk.settings, no_stale_after=DAY)
    async with disk.opened() as cache:
        keep(cache)
        cache.keep_read(STORE, "Read password", b"value", HOUR)
    disk.later(DAY + 1)
    async with disk.opened() as cache:
        assert cache.output(REF) is None
        assert cache.read(STORE, "Read password") is None
        assert cache.is_withdrawn(REF)
    async with disk.opened() as cache:
        assert cache.is_withdrawn(REF)
        keep(cache)
        assert not cache.is_withdrawn(REF)


async def test_what_is_made_once_has_no_age(disk: Disk) -> None:
    disk.settings = replace(disk.settings, no_stale_after=DAY, max_age=DAY)
    async with disk.opened() as cache:
        keep(cache, interval=0)
    disk.later(400 * DAY)
    async with disk.opened() as cache:
        assert cache.output(REF) is not None
        assert cache.age(REF) is None


@pytest.mark.parametrize("back", [HOUR, 2 * DAY], ids=["an hour", "two days"])
async def test_a_clock_that_is_set_back_makes_nothing_younger(disk: Disk, back: float) -> None:
    disk.settings = replace(disk.settings, no_stale_after=DAY)
    async with disk.opened() as cache:
        keep(cache)
    disk.later(DAY - 1)
    async with disk.opened():
        pass
    disk.clock -= back
    async with disk.opened() as cache:
        assert cache.age(REF) == DAY - 1
        disk.passed += 2
        assert cache.output(REF) is None


async def test_after_a_jump_far_ahead_and_back_time_still_passes(disk: Disk) -> None:
    disk.settings = replace(disk.settings, no_stale_after=DAY)
    disk.clock += 3650 * DAY
    async with disk.opened():
        pass
    disk.clock = START
    async with disk.opened() as cache:
        keep(cache)
        assert cache.age(REF) == 0
        disk.later(DAY + 1)
        assert cache.output(REF) is None


async def test_a_confirmation_is_written_now_and_then_and_known_at_once(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
    for _ in range(2):
        disk.later(300)
        async with disk.opened() as cache:
            cache.confirm_output(REF, cache.now(), HOUR)
            assert cache.age(REF) == 0
    async with disk.opened() as cache:
        assert cache.age(REF) == 600
        disk.later(300)  # a quarter of the interval since it was written
        cache.confirm_output(REF, cache.now(), HOUR)
    async with disk.opened() as cache:
        assert cache.age(REF) == 0


# ----------------------------------------------------------------------------------------------------- room
async def test_the_oldest_go_first(disk: Disk) -> None:
    disk.settings = replace(disk.settings, max_entries=10)
    async with disk.opened() as cache:
        for number in range(11):
            keep(cache, REF._replace(name=str(number)))
            disk.later(1)
        assert cache.output(REF._replace(name="0")) is None
        assert cache.output(REF._replace(name="10")) is not None
        assert cache.stats().entries <= 10


async def test_what_is_made_once_goes_last(disk: Disk) -> None:
    disk.settings = replace(disk.settings, max_entries=10)
    async with disk.opened() as cache:
        keep(cache, interval=0)
        for number in range(20):
            disk.later(1)
            keep(cache, REF._replace(name=str(number)))
        assert cache.output(REF) is not None


async def test_answers_that_are_too_old_go_and_outputs_wait_to_be_withdrawn(disk: Disk) -> None:
    disk.settings = replace(disk.settings, no_stale_after=DAY)
    async with disk.opened() as cache:
        keep(cache)
        cache.keep_read(STORE, "need", b"value", HOUR)
    disk.later(DAY + 1)
    async with disk.opened() as cache:
        cache.keep_read(STORE, "another", b"value", HOUR)
    async with disk.opened() as cache:
        assert cache.stats().entries == 2
        assert cache.age(REF) == DAY + 1


async def test_bytes_are_bounded(disk: Disk) -> None:
    disk.settings = replace(disk.settings, max_bytes=2**20)
    async with disk.opened() as cache:
        for number in range(40):
            cache.keep_read(STORE, str(number), b"x" * 50_000, HOUR)
        assert cache.stats().size <= 2**20


async def test_a_large_value_is_not_kept(disk: Disk) -> None:
    async with disk.opened() as cache:
        cache.keep_output(REF, "sha3", {"key": b"x" * (LARGEST + 1)}, [])
        cache.keep_read(STORE, "need", b"x" * (LARGEST + 1), HOUR)
        assert cache.stats().entries == 0


# ------------------------------------------------------------------------------------------------- the file
def execute(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as database:
        database.execute(statement)
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("UPDATE records SET box = zeroblob(length(box))", id="overwritten"),
        pytest.param("UPDATE records SET box = substr(box, 1, 5)", id="cut"),
        pytest.param("UPDATE records SET confirmed_at = confirmed_at + 1", id="made younger"),
        pytest.param("UPDATE records SET expires_at = -1", id="made to last"),
        pytest.param("UPDATE records SET nonce = 'text'", id="of another type"),
    ],
)
async def test_a_damaged_record_is_dropped_and_counted(disk: Disk, statement: str) -> None:
    async with disk.opened() as cache:
        keep(cache)
    execute(disk.path, statement)
    async with disk.opened() as cache:
        assert cache.output(REF) is None
        assert cache.stats().rejected == 1
    async with disk.opened() as cache:
        assert cache.stats().entries == 0


async def test_records_that_were_exchanged_do_not_open(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
        keep(cache, OTHER)
    with sqlite3.connect(disk.path) as database:
        [one, two] = [row[0] for row in database.execute("SELECT id FROM records")]
        for old, new in ((one, b"x"), (two, one), (b"x", two)):
            database.execute("UPDATE records SET id = ? WHERE id = ?", (new, old))
    database.close()
    async with disk.opened() as cache:
        assert cache.output(REF) is None
        assert cache.output(OTHER) is None
        assert cache.stats().rejected == 2


async def test_another_key_leaves_the_file_as_it_is(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
    before, right = disk.path.read_bytes(), disk.keys
    disk.keys = Keys(os.urandom(32))
    with pytest.raises(CacheUnusable, match="another key"):
        disk.file()
    assert disk.path.read_bytes() == before
    disk.keys = right
    async with disk.opened() as cache:
        assert cache.output(REF) is not None


async def test_a_new_key_takes_over_from_the_old_one(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
        keep(cache, OTHER)
    old = disk.keys.current
    disk.keys = Keys(os.urandom(32), old)
    async with disk.opened() as cache:
        assert cache.output(REF) is not None
    disk.keys = Keys(disk.keys.current)
    async with disk.opened() as cache:
        assert cache.output(OTHER) is not None
    disk.keys = Keys(old)
    with pytest.raises(CacheUnusable, match="another key"):
        disk.file()


async def test_what_is_damaged_does_not_keep_the_rest_from_a_new_key(disk: Disk) -> None:
    async with disk.opened() as cache:
        keep(cache)
        cache.keep_read(STORE, "need", b"value", HOUR)
    execute(disk.path, "UPDATE records SET box = zeroblob(20) WHERE kind = 'read'")
    disk.keys = Keys(os.urandom(32), disk.keys.current)
    async with disk.opened() as cache:
        assert cache.output(REF) is not None
        assert (cache.stats().entries, cache.stats().rejected) == (1, 1)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(b"no database at all, but a text of some length" * 40, "damaged", id="no database"),
        pytest.param(None, "another program", id="of another program"),
    ],
)
async def test_a_file_that_is_not_ours_is_left_as_it_is(disk: Disk, content: bytes | None, why: str) -> None:
    if content is None:
        execute(disk.path, "CREATE TABLE theirs (x)")
    else:
        disk.path.write_bytes(content)
    before = disk.path.read_bytes()
    with pytest.raises(CacheUnusable, match=why):
        disk.file()
    assert disk.path.read_bytes() == before


async def test_a_file_that_was_cut_is_not_used(disk: Disk) -> None:
    async with disk.opened() as cache:
        for number in range(50):
            keep(cache, REF._replace(name=str(number)))
    os.truncate(disk.path, disk.path.stat().st_size // 2)
    with pytest.raises(CacheUnusable, match="damaged"):
        disk.file()


async def test_a_second_daemon_is_refused(disk: Disk) -> None:
    async with disk.opened():
        with pytest.raises(CacheUnusable, match="another syncret"):
            disk.file()
        with pytest.raises(CacheUnusable, match="another syncret"):
            remove_file(str(disk.path))
    assert remove_file(str(disk.path))
    assert not disk.path.exists()


def connection_of(cache: OfflineCache) -> sqlite3.Connection:
    """What writes its file: it can be limited as by a full disk."""
    return cast("sqlite3.Connection", vars(vars(cache.records)["_file"])["_database"])


async def test_without_room_on_the_disk_it_goes_on_without_and_then_with_it_again(disk: Disk) -> None:
    async with disk.opened() as cache:
        database = connection_of(cache)
        [pages] = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages}")
        cache.keep_read(STORE, "large", b"x" * 500_000, HOUR)
        await cache.records.commit()
        assert "no space is left" in cache.stats().problem
        assert cache.read(STORE, "large") is None
        database.execute("PRAGMA max_page_count = 100000")
        cache.keep_read(STORE, "large", b"x" * 500_000, HOUR)
        await cache.records.commit()
        assert cache.stats().usable
    async with disk.opened() as cache:
        assert cache.read(STORE, "large") is not None


async def test_it_is_cleared_by_store_and_as_a_whole(disk: Disk) -> None:
    elsewhere = STORE._replace(digest="other")
    async with disk.opened() as cache:
        keep(cache)
        cache.keep_read(STORE, "need", b"value", HOUR)
        cache.keep_read(elsewhere, "need", b"value", HOUR)
        assert cache.clear([STORE]) == 2
        assert cache.read(elsewhere, "need") is not None
        assert cache.clear() == 1
    async with disk.opened() as cache:
        assert cache.stats().entries == 0
