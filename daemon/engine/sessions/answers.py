"""Keeps what was read for as long as an object waits that may still use it, and as long as memory allows.

Two thousand objects that are due together do not all run together. One that runs later takes the answer of a
call that began after it was due. Once no such object waits at the store the answer is dropped; when answers
take too much memory the oldest go first, and are read again.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import count
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec

from syncret.providers.contract import RemoteKey

LIMIT: Final = 16 * 2**20
"""Bytes that the kept answers of all stores may take, about."""

_MOST_PARTS: Final = 10_000
"""An answer of more parts is not kept: to measure it would hold up the loop."""

_BESIDE: Final = 300
"""Bytes that an entry takes beside the answer itself."""


class Answer(NamedTuple):
    """What a call gave for one key: nothing where there is no such key."""

    begin: float
    payload: object | None
    size: int


_Key: TypeAlias = tuple[int, RemoteKey]
"""Which client read, and what."""


class KeptAnswers:
    """Answers by store, oldest first.

    Args:
        is_awaited: whether an object of a store that was due before a moment runs, or is to be run.
    """

    def __init__(self, is_awaited: Callable[[str, float], bool], *, limit: int = LIMIT) -> None:
        self._is_awaited = is_awaited
        self.limit = limit
        self._stores: dict[str, dict[_Key, Answer]] = {}
        self._clients = count()
        self.size = 0
        """Bytes of all answers, about."""

    def __len__(self) -> int:
        return sum(map(len, self._stores.values()))

    def new_client(self) -> int:
        """A number for a client. What one has read serves no other: it may have other rights."""
        return next(self._clients)

    def get(self, store: str, client: int, key: RemoteKey, since: float) -> Answer | None:
        """The answer of a call that began after the request."""
        answer = self._stores.get(store, {}).get((client, key))
        return answer if answer is not None and answer.begin > since else None

    def keep(
        self, store: str, client: int, begin: float, payloads: Mapping[RemoteKey, object | None]
    ) -> None:
        """Keep what a call gave that began then, if an object waits that was due before."""
        if not self._is_awaited(store, begin):
            return
        kept = self._stores.setdefault(store, {})
        for key, payload in payloads.items():
            self._drop(kept, (client, key))
            size = size_of(payload)
            if size is not None and size <= self.limit:
                kept[client, key] = Answer(begin, payload, size)
                self.size += size
        if not kept:
            del self._stores[store]
        if self.size > self.limit:
            self._shrink()

    def trim(self, stores: Iterable[str] | None) -> None:
        """Drop what no object of these stores (None: of any) can use any more."""
        for store in list(self._stores if stores is None else stores):
            kept = self._stores.get(store)
            if not kept:
                continue
            while kept and not self._is_awaited(store, next(iter(kept.values())).begin):
                self._drop(kept, next(iter(kept)))
            if not kept:
                del self._stores[store]

    def _shrink(self) -> None:
        """Drop the oldest answers, and some more: not one for each that comes."""
        while self.size > self.limit * 7 // 8:
            oldest = min(self._stores, key=lambda store: next(iter(self._stores[store].values())).begin)
            kept = self._stores[oldest]
            self._drop(kept, next(iter(kept)))
            if not kept:
                del self._stores[oldest]

    def _drop(self, kept: dict[_Key, Answer], key: _Key) -> None:
        answer = kept.pop(key, None)
        if answer is not None:
            self.size -= answer.size

    def __repr__(self) -> str:
        return f"<KeptAnswers {len(self)} size={self.size}>"


def size_of(payload: object) -> int | None:
    """Bytes that a kept answer takes, about; None if it has too many parts to be measured."""
    size = _BESIDE
    parts = [payload]
    for _ in range(_MOST_PARTS):
        if not parts:
            return size
        part = parts.pop()
        size += sys.getsizeof(part)
        parts.extend(_parts_of(part))
    return None


def _parts_of(part: object) -> Iterable[object]:
    if isinstance(part, str | bytes | int | float | None):
        return ()
    if isinstance(part, Mapping):
        members = cast("Mapping[object, object]", part)
        return (*members.keys(), *members.values())
    if isinstance(part, list | tuple | set | frozenset):
        return cast("Iterable[object]", part)
    if isinstance(part, msgspec.Struct):
        return [getattr(part, name) for name in part.__struct_fields__]
    if is_dataclass(part):
        return [getattr(part, field.name) for field in fields(part)]
    return vars(part).values() if hasattr(part, "__dict__") else ()
