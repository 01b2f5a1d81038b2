"""Keys that are asked for one by one: what is one key's own failure, and what is everybody's."""

import asyncio
import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.batching import map_concurrently, read_each, unpaced


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Without the collector of cycles, which comes too late for a few large objects."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("failure", [Denied("no"), Malformed("no")])
async def test_a_refusal_is_that_of_its_key(failure: SyncError) -> None:
    async def read(key: str) -> bytes | None:
        if key == "refused":
            raise failure
        return b"value" if key == "there" else None

    assert await read_each(["refused", "absent", "there"], read) == {"refused": failure, "there": b"value"}


@pytest.mark.parametrize("failure", [Unavailable("silence"), Throttled("slower")])
async def test_no_answer_ends_the_call(failure: SyncError) -> None:
    asked: list[str] = []

    async def read(key: str) -> bytes | None:
        asked.append(key)
        raise failure

    with pytest.raises(type(failure)):
        await read_each(["first", "second"], read)
    assert asked == ["first"]


class Result:
    """Of one key."""


@pytest.mark.usefixtures("no_collector")
async def test_a_failed_search_keeps_no_results() -> None:
    """Neither in the frames of its error, nor in those of the calls that it cancels."""
    results: list[ref[Result]] = []

    async def read(key: str) -> Result:
        if key == "bad":
            raise Malformed("no")
        if key == "slow":
            await asyncio.Event().wait()
        result = Result()
        results.append(ref(result))
        return result

    with pytest.raises(Malformed) as caught:
        await map_concurrently(read, ["first", "slow", "bad", "second"], unpaced, doing="search")
    assert results
    del caught
    assert [result() for result in results] == [None] * len(results)
