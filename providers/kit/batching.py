"""One call per key, one after another or a few at a time, for secret managers without a batch API."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Generic, TypeVar

from syncret.providers.contract import Paced
from syncret.providers.errors import Denied, Malformed, SyncError, bare
from syncret.providers.values import RemoteKey

K = TypeVar("K")
P = TypeVar("P")


class SingleReads(ABC, Generic[P]):
    """The `fetch` of a Reader that makes one call for each key; `P` is its payload."""

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, P | SyncError]:
        return await read_each(keys, self.fetch_one)

    async def read_current(self, key: str) -> P | None:
        """The payload of an entry as it is now, for a search or a push."""
        return await self.fetch_one(RemoteKey(key))

    @abstractmethod
    async def fetch_one(self, key: RemoteKey) -> P | None:
        """The payload; None if there is no such entry. Raises SyncError."""


async def read_each(keys: Iterable[K], read: Callable[[K], Awaitable[P | None]]) -> dict[K, P | SyncError]:
    """The result of `read` for each key, without keys that do not exist (None).

    Denied and Malformed concern their key alone. Unavailable and Throttled, which concern all, are raised.
    """
    found: dict[K, P | SyncError] = {}
    for key in keys:
        try:
            payload = await read(key)
        except (Denied, Malformed) as error:
            found[key] = bare(error)
            continue
        if payload is not None:
            found[key] = payload
    return found


T = TypeVar("T")

_CONCURRENT_CALLS: Final = 8
"""Calls at once; more would be a burst that managers throttle."""


async def unpaced(request: Callable[[], Awaitable[T]], /, *, reads: int = 0) -> T:
    """Send a request of a call that is paced as a whole."""
    del reads
    return await request()


def reading(paced: Paced, entries: int = 1) -> Paced:
    """The same, for requests that read so many of the entries that a search found."""

    async def paced_read(request: Callable[[], Awaitable[T]], /, *, reads: int = entries) -> T:
        return await paced(request, reads=reads)

    return paced_read


async def map_concurrently(
    function: Callable[[str], Awaitable[T]], keys: Iterable[str], paced: Paced, *, doing: str
) -> list[tuple[str, T]]:
    """The results for all keys, in order, each key once. The first failure cancels the rest.

    `doing` is the name of the tasks: `vault search`.
    """
    from asyncio import Task, TaskGroup  # slow to import, and not needed to validate a spec

    waiting = list(dict.fromkeys(keys))
    results: dict[str, T] = {}
    rest = iter(waiting)
    workers: list[Task[None]] = []
    failures: list[SyncError] = []

    async def work() -> None:
        """Its errors do not leave the group: an ExceptionGroup would keep all results, in a cycle."""
        try:
            for key in rest:
                results[key] = await paced(partial(function, key))
        except SyncError as error:
            failures.append(bare(error))
            for worker in workers:
                worker.cancel()

    try:
        async with TaskGroup() as group:
            for number in range(min(_CONCURRENT_CALLS, len(waiting))):
                workers.append(group.create_task(work(), name=f"{doing} {number}"))  # noqa: PERF401  # below a TaskGroup
    finally:
        workers.clear()  # those that were cancelled keep their frames, too
    if failures:
        raise failures.pop(0)
    return [(key, results[key]) for key in waiting]
