import asyncio

import pytest

from syncret.daemon.engine.queue.store_watch import SILENT_AFTER, StoreWatch

Changes = list[tuple[float, str, str]]


@pytest.fixture
async def changes() -> Changes:
    return []


@pytest.fixture
async def watch(changes: Changes) -> StoreWatch:
    loop = asyncio.get_running_loop()
    return StoreWatch(lambda name, answering: changes.append((loop.time(), name, answering)))


async def test_a_store_is_silent_once_a_run_has_waited_a_second(watch: StoreWatch, changes: Changes) -> None:
    watch.wait_begins("s")
    await asyncio.sleep(0.5)
    watch.wait_begins("s")
    await asyncio.sleep(10)
    assert changes == [(SILENT_AFTER, "s", "no")]
    assert repr(watch) == "<StoreWatch silent=['s']>"


async def test_an_answer_makes_it_answering_at_once(watch: StoreWatch, changes: Changes) -> None:
    watch.wait_begins("s")
    await asyncio.sleep(5)
    watch.answered("s")
    assert changes[1:] == [(5, "s", "yes")]
    await asyncio.sleep(0.7)
    watch.answered("s")
    await asyncio.sleep(5)
    assert changes[2:] == [(5.7 + SILENT_AFTER, "s", "no")], "a second after the last answer, one still waits"


async def test_nothing_is_known_of_a_store_that_nothing_waits_for(
    watch: StoreWatch, changes: Changes
) -> None:
    watch.answered("s")
    watch.wait_begins("s")
    watch.answered("s")
    watch.wait_ends("s")
    await asyncio.sleep(0.9)
    assert changes == [(0, "s", "yes")], "it is known for a second, so that the next need not learn it again"
    await asyncio.sleep(5)
    assert changes == [(0, "s", "yes"), (1, "s", "unknown")]


async def test_a_silent_store_is_unknown_once_the_last_has_given_up(
    watch: StoreWatch, changes: Changes
) -> None:
    watch.wait_begins("s")
    watch.wait_begins("s")
    await asyncio.sleep(30)
    watch.wait_ends("s")
    assert len(changes) == 1
    watch.wait_ends("s")
    assert changes[1:] == [(30, "s", "unknown")]


async def test_a_wait_that_begins_late_has_its_full_second(watch: StoreWatch, changes: Changes) -> None:
    watch.wait_begins("s")
    watch.wait_ends("s")
    await asyncio.sleep(0.9)
    watch.wait_begins("s")
    await asyncio.sleep(0.5)
    assert changes == []
    await asyncio.sleep(1)
    assert changes == [(1.9, "s", "no")]
