"""Makes one call per key, a few at a time, for secret managers that have no call for several.

Reads keys one by one, for secret managers that have no call for several.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

from syncret.providers.errors import Denied, Malformed, SyncError

K = TypeVar("K")
P = TypeVar("P")


async def read_each(keys: Iterable[K], read: Callable[[K], Awaitable[P | None]]) -> dict[K, P | SyncError]:
    """What `read` gives for each key; one that does not exist (None) is left out.

    A refusal is that of its key alone. Raises what would be the same for all: no answer, or too many calls.
    """
    found: dict[K, P | SyncError] = {}
    for key in keys:
        try:
            payload = await read(key)
        except (Denied, Malformed) as error:
            found[key] = error
            continue
        if payload is not None:
            found[key] = payload
    return found


T = TypeVar("T")

_CONCURRENT_CALLS: Final = 8
"""More would be a burst that managers throttle."""


async def map_concurrently(
    function: Callable[[str], Awaitable[T]], keys: Iterable[str], *, doing: str
) -> list[tuple[str, T]]:
    """The results for all keys, in their order, each key once. The first failure ends the rest.

    `doing` names the tasks: `vault search`.
    """
    from asyncio import TaskGroup  # slow to import, and not needed to validate a spec

    waiting = list(dict.fromkeys(keys))
    results: dict[str, T] = {}
    rest = iter(waiting)

    async def work() -> None:
        for key in rest:
            results[key] = await function(key)

    failure: SyncError | None = None
    try:
        async with TaskGroup() as group:
            for worker in range(min(_CONCURRENT_CALLS, len(waiting))):
                group.create_task(work(), name=f"{doing} {worker}")
    except* SyncError as errors:
        failure = _first(errors)
    if failure is not None:
        raise failure
    return [(key, results[key]) for key in waiting]


def _first(errors: BaseExceptionGroup[SyncError]) -> SyncError:
    first = errors.exceptions[0]
    return first if isinstance(first, SyncError) else _first(first)
