"""The memory for answers: who waits, who goes on, and what is dropped when nothing does."""

import asyncio

import pytest
from aiohttp import web

from syncret.providers import answer_memory
from syncret.providers.answer_memory import (
    BUFFERED,
    LARGEST_PARSED,
    LARGEST_VALUES,
    LIMIT,
    RESERVE,
    SMALL,
    AnswerMemory,
    RunAnswers,
    Share,
    TooLarge,
    call_share,
)
from syncret.providers.errors import SyncError, Unavailable
from syncret.providers.kit.http import Http
from syncret.providers.network import Egress, Network
from tests.support.served import all_to, served

ROOM = LIMIT - RESERVE


async def waits(share: Share, size: int) -> "asyncio.Task[None]":
    """A reader that finds no room."""
    task = asyncio.create_task(share.take(size), name="read")
    await asyncio.sleep(0)
    assert not task.done()
    return task


async def test_a_reader_waits_until_another_has_handed_over_its_answer() -> None:
    memory = AnswerMemory()
    first, second, small = Share(memory, "a"), Share(memory, "b"), Share(memory, "b")
    await first.take(ROOM)
    waiting = await waits(second, ROOM)
    await small.take(SMALL)

    first.release()
    small.release()
    await waiting
    assert memory.used == second.size == ROOM
    second.release()
    assert (memory.used, memory.waiting) == (0, 0)


async def test_kept_answers_go_first() -> None:
    memory = AnswerMemory()
    kept = Share(memory, runs=[])
    kept.add(ROOM)
    dropped: list[int] = []

    def drop(missing: int) -> None:
        dropped.append(missing)
        kept.add(-min(missing, kept.size))

    memory.drop_kept = drop
    await Share(memory).take(ROOM // 2)

    assert dropped[0] == ROOM // 2
    assert memory.used == ROOM


async def test_two_that_wait_for_each_other_do_not_wait_for_ever() -> None:
    """Each run holds half and asks for more: the one that holds most goes on, beyond the limit."""
    memory = AnswerMemory()
    runs = RunAnswers(), RunAnswers()
    for run, size in zip(runs, (ROOM // 2, ROOM // 2 + 1), strict=True):
        held = Share(memory, runs=[run])
        run.shares.append(held)
        held.add(size)
    first = await waits(Share(memory, askers=[runs[0]]), ROOM // 4)
    second = Share(memory, askers=[runs[1]])
    await second.take(ROOM // 4)

    assert memory.used > ROOM
    assert not first.done()
    second.release()
    runs[1].end()
    await first
    assert memory.used < ROOM


async def test_of_those_that_begin_the_store_of_which_least_is_held_goes_first() -> None:
    memory = AnswerMemory()
    held, other = Share(memory, "greedy"), Share(memory, "other")
    await held.take(ROOM // 2)
    await other.take(ROOM // 2)
    greedy = await waits(Share(memory, "greedy"), ROOM // 2)
    modest = await waits(Share(memory, "modest"), ROOM // 2)

    other.release()
    await modest
    assert not greedy.done()
    held.release()
    await greedy


async def test_a_store_of_which_many_readers_wait_waits_no_longer_than_others() -> None:
    """Each that waits holds a little; another store, which reads again and again, had the room each time."""
    memory = AnswerMemory()
    held = Share(memory, "held")
    await held.take(ROOM)
    many = [Share(memory, "many") for _ in range(10)]
    for share in many:
        share.add(BUFFERED)
    first, *rest = [await waits(share, ROOM // 2) for share in many]
    again = await waits(Share(memory, "again"), ROOM // 2)

    held.release()
    await first
    assert not again.done()
    for task in (*rest, again):
        task.cancel()


async def test_a_cancelled_wait_leaves_nothing_behind() -> None:
    memory = AnswerMemory()
    first, second = Share(memory), Share(memory)
    await first.take(ROOM)
    waiting = await waits(second, ROOM)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    first.release()

    assert (memory.used, memory.waiting, second.size) == (0, 0, 0)


async def test_requests_wait_while_readers_of_their_store_do() -> None:
    memory = AnswerMemory()
    held, reader, request, other = (Share(memory, owner) for owner in ("a", "b", "b", "c"))
    await held.take(ROOM)
    reading = await waits(reader, SMALL + 1)
    sending = asyncio.create_task(request.may_send(), name="send")
    await asyncio.sleep(0)
    await other.may_send()
    assert not sending.done()

    held.release()
    await reading
    await sending
    assert (other.size, request.size) == (0, BUFFERED), "it holds what its connection may receive"


async def test_what_waits_for_a_turn_holds_up_no_reader() -> None:
    """The turns may be those of readers: a run that waits for one does not go on by itself."""
    memory, run = AnswerMemory(), RunAnswers()
    held = Share(memory, runs=[run])
    run.shares.append(held)
    held.add(ROOM)
    reading = await waits(Share(memory), SMALL + 1)
    with Share(memory, askers=[run]).held_up():
        await reading


async def test_who_joins_a_call_that_waits_holds_up_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_memory, "LONGEST_WAIT", 0.05)
    memory, run = AnswerMemory(), RunAnswers()
    held = Share(memory, "a", runs=[run])
    run.shares.append(held)
    held.add(ROOM + LARGEST_PARSED)
    call = Share(memory, "a")
    reading = await waits(call, SMALL + 1)
    call.askers.append(run)
    await reading


async def test_a_reader_gives_up_if_none_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever holds the memory: the turn of the reader, at least, is free again."""
    monkeypatch.setattr(answer_memory, "LONGEST_WAIT", 0.05)
    monkeypatch.setattr(answer_memory, "STUCK", 0.1)
    memory = AnswerMemory()
    held, reader = Share(memory, "a"), Share(memory, "b")
    held.add(ROOM + LARGEST_PARSED)
    with pytest.raises(Unavailable, match="waited for memory"):
        await reader.take(SMALL + 1)
    assert (reader.size, reader.waits, memory.waiting) == (0, 0, 0)


def test_the_values_of_one_run_are_bounded() -> None:
    run = RunAnswers()
    run.read = LARGEST_VALUES + 1
    with pytest.raises(TooLarge, match="the values that this object reads"):
        run.hold_values(AnswerMemory(), "store")


async def test_a_slow_server_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has sent most of a large answer and then nothing, in more connections than there is room for."""
    monkeypatch.setattr(answer_memory, "LONGEST_WAIT", 0.05)
    network = Network(egress=Egress())
    body = b"x" * (4 * 2**20)

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body if request.path == "/good" else body[:-65536])
        if request.path == "/slow":
            await asyncio.Event().wait()
        return response

    async def read(url: str, path: str) -> object:
        share = Share(network.answers, path)
        call_share.set(share)
        async with Http(url, network=network, parses=False) as http:
            try:
                return len((await http.request("GET", path, doing="reading")).body)
            except SyncError as error:
                return error
            finally:
                share.release()

    async with served(all_to(handle)) as url, asyncio.TaskGroup() as group:
        slow = [group.create_task(read(url, "/slow"), name="slow") for _ in range(8)]
        while network.answers.used < ROOM - len(body):  # noqa: ASYNC110  # no event tells
            await asyncio.sleep(0.01)
        assert await group.create_task(read(url, "/good"), name="good") == len(body)
        ended, waiting = await asyncio.wait(slow, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()

    assert all(
        isinstance(task.result(), Unavailable) and "was dropped" in str(task.result()) for task in ended
    )
