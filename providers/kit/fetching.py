"""Reads keys one by one, for secret managers that have no call for several."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from syncret.providers.errors import Denied, Malformed, SyncError

K = TypeVar("K")
P = TypeVar("P")


async def one_by_one(keys: Iterable[K], read: Callable[[K], Awaitable[P | None]]) -> dict[K, P | SyncError]:
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
