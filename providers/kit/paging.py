"""Follows the pages of a list, and collects what a search keeps, within limits.

A server may lead from page to page for ever. Names that are only looked at cost time, so there may be many;
what is kept takes memory, and is bounded in number and in bytes.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from syncret.providers.answer_memory import LARGEST_VALUES, found_share
from syncret.providers.contract import Paced
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import map_concurrently, reading
from syncret.providers.values import SecretBytes, SecretMap

T = TypeVar("T")

MOST_LISTED: Final = 250_000
"""Entries that one search looks at."""

MOST_KEPT: Final = 10_000
"""Entries that one search keeps."""

MOST_KEPT_BYTES: Final = LARGEST_VALUES
"""Bytes of names and values that one search keeps."""

_ENTRY: Final = 100
"""Bytes that an entry takes beside its text."""

_LEAST_PER_PAGE: Final = 10
"""The least that a page counts as, in entries, so that a list of empty pages ends too."""

_TURN: Final = 0.01
"""Seconds after which the entries of a page let others run."""

_NARROWER: Final = "narrow find.name.regexp or find.path, or divide the search between several objects"


class Page(NamedTuple, Generic[T]):
    """The entries of one page, and the token that leads to the next one; empty on the last."""

    entries: Sequence[T]
    next: str = ""


class Looked:
    """Counts the entries that one search examines."""

    def __init__(self, doing: str, most: int = MOST_LISTED) -> None:
        self._doing = doing
        self._most = most
        self._count = 0

    def at(self, page: Sequence[object]) -> None:
        """Count the entries of a page. Raises Malformed if they are too many."""
        self._count += max(len(page), _LEAST_PER_PAGE)
        if self._count > self._most:
            raise Malformed(
                f"{self._doing}: there are more than {self._most} entries to look at",
                hint="narrow find.path, or give these entries a store or namespace of their own",
            )


async def pages(
    read: Callable[[str], Awaitable[Page[T]]], paced: Paced, *, doing: str, most: int = MOST_LISTED
) -> AsyncGenerator[T, None]:
    """The entries of all pages. Each page is a call of its own; the token of the first one is empty.

    Raises SyncError; Malformed if the list has no end, or more than `most` entries.
    """
    looked = Looked(doing, most)
    token, earlier, count, next_mark = "", "", 0, 1
    turn = time.monotonic()
    while True:
        page = await paced(partial(read, token))
        looked.at(page.entries)
        for entry in page.entries:
            yield entry
            if time.monotonic() - turn > _TURN:  # a page may have a hundred thousand
                await asyncio.sleep(0)
                turn = time.monotonic()
        token = page.next
        del page  # not kept while the next one is read
        if not token:
            return
        if token == earlier:
            raise Malformed(
                f"{doing}: the list does not end: its pages lead back to an earlier one",
                hint="is there a proxy, or a wrong endpoint?",
            )
        count += 1
        if count == next_mark:  # one earlier token, replaced ever more rarely, finds a circle of any length
            earlier, next_mark = token, 2 * next_mark


def has_tags(held: Mapping[str, str | None] | None, tags: Sequence[tuple[str, str]] | None) -> bool:
    """Whether an entry has all tags that a search asks for, with these values."""
    return set(tags or ()) <= (held or {}).items()


class Matches:
    """What a search keeps: the names that match, and their values. Raises Malformed beyond its limits."""

    def __init__(self, *, most: int = MOST_KEPT, most_bytes: int = MOST_KEPT_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._share = found_share.get()
        self.names: list[str] = []
        self.values: dict[str, SecretBytes] = {}

    def add_name(self, name: str) -> None:
        """Keep a name."""
        self.names.append(name)
        self._spend(len(self.names), len(name))

    def add_value(self, name: str, value: SecretBytes) -> None:
        """Keep the value of a name."""
        self.values[name] = value
        self._spend(len(self.values), len(name) + len(value))

    async def read_values(
        self, read: Callable[[str], Awaitable[SecretBytes | None]], paced: Paced, *, doing: str
    ) -> SecretMap:
        """Read the value of each name with a call of its own; None for an entry that is gone by then."""

        async def read_and_keep(name: str) -> None:
            value = await read(name)
            if value is not None:
                self.add_value(name, value)

        await map_concurrently(read_and_keep, self.names, reading(paced), doing=doing)
        return {name: self.values[name] for name in self.names if name in self.values}

    def _spend(self, entries: int, size: int) -> None:
        size += _ENTRY
        self._bytes += size
        if self._share is not None:
            self._share.add(size)
        if entries > self._most:
            raise Malformed(f"more than {self._most} entries match the search", hint=_NARROWER)
        if self._bytes > self._most_bytes:
            raise Malformed(
                f"what the search finds is larger than {self._most_bytes} bytes together", hint=_NARROWER
            )
