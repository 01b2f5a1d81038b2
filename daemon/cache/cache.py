"""The offline cache: keeps outputs as they were delivered last, and what stores answered."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from math import inf
from typing import Any, Final, NamedTuple

from msgspec import Struct, json, msgpack

from syncret.config.meta import ObjectRef
from syncret.config.settings import Cache
from syncret.daemon.cache.file import CacheFile, Name
from syncret.daemon.cache.records import OUTPUT, READ, Records

LARGEST: Final = 2**20
"""Bytes of the largest value that is kept."""

REFUSED: Final = "refused"
"""Mark of a store whose login was refused: nothing of it is served until it answers again."""
WITHDRAWN: Final = "withdrawn"
"""Mark of an output that became too old and was withdrawn."""


class StoreId(NamedTuple):
    """Identifies a store with its spec, for one namespace: values read through another one are not used.

    It has the digest of the spec and no uid, because each pass without a state has other uids.
    """

    store: ObjectRef
    digest: str
    """The digest of its spec."""
    namespace: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of its name in the file."""
        return ("store", *self.store, self.digest, self.namespace)


def store_id(store: ObjectRef, data: bytes, namespace: str) -> StoreId:
    """The ID of a store, from its stored document, for requests from one namespace."""
    return StoreId(store, _spec_digest(data), namespace)


@lru_cache(maxsize=256)  # thousands of objects read from a few stores
def _spec_digest(data: bytes) -> str:
    spec = json.decode(data, type=_Spec).spec
    return sha256(json.encode(spec, order="sorted")).hexdigest()


class _Spec(Struct):
    spec: dict[str, Any] = {}


class Kept(NamedTuple):
    """A value that a store gave, and when it was confirmed."""

    content: bytes
    confirmed_at: float


class Output(NamedTuple):
    """An output as it was delivered last, and when it was confirmed."""

    data: Mapping[str, bytes]
    confirmed_at: float


class Stats(NamedTuple):
    """The statistics of the cache, for status and metrics."""

    usable: bool
    problem: str = ""
    entries: int = 0
    size: int = 0
    oldest: float | None = None
    """Age in seconds of the output that was confirmed longest ago, of those with a refresh interval."""
    no_stale_after: float = 0.0
    restored: int = 0
    rejected: int = 0
    served: Mapping[str, int] = {}
    """Number of answers in place of a store, by its name."""
    serving: int = 0
    """Number of outputs that could not be confirmed at the last attempt."""


class _Output(Struct, frozen=True, array_like=True):
    """The content of the record of an output."""

    digest: str
    data: dict[str, bytes]
    stores: tuple[bytes, ...]


class OfflineCache:
    """The cache of one run of the daemon."""

    def __init__(
        self, file: CacheFile, settings: Cache, clock: Callable[[], float], passed: Callable[[], float]
    ) -> None:
        """`clock` is the system clock; `passed` is a monotonic clock."""
        self.records = Records(file, settings, clock, passed)
        self.no_stale_after = settings.no_stale_after
        """The greatest age of an output in seconds; 0: no limit."""
        self.unconfirmed: set[ObjectRef] = set()
        """Outputs that could not be confirmed at the last attempt."""
        self.restored: set[ObjectRef] = set()
        """Outputs that were restored at the start and are not confirmed yet."""
        self.served_since = inf
        """When the oldest value that was given in place of a store was confirmed."""
        self._put_back = 0
        self._served: dict[str, int] = {}

    def now(self) -> float:
        """The time, which never goes back."""
        return self.records.now()

    def _name(self, *parts: str) -> bytes:
        return self.records.box.name(*parts)

    # ---------------------------------------------------------------------------------------------- outputs
    def _output(self, ref: ObjectRef) -> Name:
        return OUTPUT, self._name(OUTPUT, *ref)

    def has_output(self, ref: ObjectRef, digest: str) -> bool:
        """Whether an output is kept with the data of that digest."""
        name = self._output(ref)
        entry = self.records.get(name)
        if entry is not None and entry.digest is None:
            self._open_output(name)
        return entry is not None and entry.digest == digest

    def keep_output(
        self, ref: ObjectRef, digest: str, data: Mapping[str, bytes], stores: Iterable[StoreId]
    ) -> None:
        """Keep an output as it was delivered; `confirm_output` sets when its values were confirmed."""
        name = self._output(ref)
        if sum(map(len, data.values())) > LARGEST:
            self.records.drop(name)
            return
        ids = tuple([self._name(*each.parts) for each in stores])
        self.records.put(name, msgpack.encode(_Output(digest, dict(data), ids)), digest=digest)

    def confirm_output(self, ref: ObjectRef, confirmed_at: float, interval: float) -> None:
        """Note when its values were confirmed. `interval`: its refresh interval; 0 if it has none."""
        self._clear_marks(ref)
        self.records.confirm(self._output(ref), confirmed_at, interval)

    def forget_output(self, ref: ObjectRef) -> None:
        """Drop an output that must not be restored: its values were refused, or it was deleted."""
        self._clear_marks(ref)
        self.records.drop(self._output(ref))

    def _clear_marks(self, ref: ObjectRef) -> None:
        self.unconfirmed.discard(ref)
        self.restored.discard(ref)
        self.records.mark(WITHDRAWN, self._output(ref)[1], is_set=False)

    def withdraw_output(self, ref: ObjectRef) -> None:
        """Drop an output that is too old, and mark it, so that what was made of it is removed, too."""
        self.forget_output(ref)
        self.records.mark(WITHDRAWN, self._output(ref)[1], is_set=True)

    def is_withdrawn(self, ref: ObjectRef) -> bool:
        """Whether an output was withdrawn because it was too old, and was not confirmed since."""
        return self.records.has_mark(WITHDRAWN, self._output(ref)[1])

    def age(self, ref: ObjectRef) -> float | None:
        """Seconds since the values of an output were confirmed; None if it is not kept or has no age."""
        entry = self.records.get(self._output(ref))
        return None if entry is None or entry.lasts else max(0.0, self.now() - entry.confirmed_at)

    def output(self, ref: ObjectRef) -> Output | None:
        """An output to restore at a start; None if it may not be restored."""
        name = self._output(ref)
        entry = self.records.get(name)
        if entry is None:
            return None
        if self.records.is_past(entry):
            self.withdraw_output(ref)
            return None
        found = self._open_output(name)
        if found is None or any(self.records.has_mark(REFUSED, store) for store in found.stores):
            return None
        return Output(found.data, entry.confirmed_at)

    def put_back(self, ref: ObjectRef) -> None:
        """Note that an output was restored."""
        self._put_back += 1
        self.restored.add(ref)

    def _open_output(self, name: Name) -> _Output | None:
        content, entry = self.records.opened(name), self.records.get(name)
        if content is None or entry is None:
            return None
        found = msgpack.decode(content, type=_Output)
        entry.digest = found.digest
        return found

    # ------------------------------------------------------------------------------------------------ reads
    def _read(self, store: StoreId, need: str) -> Name:
        return READ, self._name(READ, *store.parts, need)

    def keep_read(self, store: StoreId, need: str, content: bytes, interval: float) -> None:
        """Keep what a store answered to a need just now."""
        name = self._read(store, need)
        if len(content) > LARGEST:
            self.records.drop(name)
        elif self.records.opened(name) != content:
            self.records.put(name, content, self._name(*store.parts))
        else:
            self.records.confirm(name, self.now(), max(interval, 1.0))

    def read(self, store: StoreId, need: str) -> Kept | None:
        """What a store answered to a need last; None if there is no such value that may be used."""
        name, owner = self._read(store, need), self._name(*store.parts)
        entry = self.records.get(name)
        if entry is None or entry.store != owner or self.records.has_mark(REFUSED, owner):
            return None
        if self.records.is_past(entry):
            self.records.drop(name)
            return None
        content = self.records.opened(name)
        if content is None:
            return None
        self.served_since = min(self.served_since, entry.confirmed_at)
        name_of_store = str(store.store)
        self._served[name_of_store] = self._served.get(name_of_store, 0) + 1
        return Kept(content, entry.confirmed_at)

    def forget_read(self, store: StoreId, need: str) -> None:
        """Drop a value that the store refused or no longer has."""
        self.records.drop(self._read(store, need))

    def store_answered(self, store: StoreId) -> None:
        """Note that the login to a store succeeded."""
        self.records.mark(REFUSED, self._name(*store.parts), is_set=False)

    def store_refused(self, store: StoreId) -> None:
        """Note that a store refused the login: none of its values is used until it succeeds."""
        self.records.mark(REFUSED, self._name(*store.parts), is_set=True)

    def clear(self, stores: Collection[StoreId] | None = None) -> int:
        """Drop all records, or those of these stores; returns how many."""
        ids = None if stores is None else {self._name(*each.parts) for each in stores}
        names = [name for name in self.records.names() if ids is None or self._is_of(name, ids)]
        for name in names:
            self.records.drop(name)
        return len(names)

    def _is_of(self, name: Name, stores: Collection[bytes]) -> bool:
        entry = self.records.get(name)
        if name[0] == READ:
            return entry is not None and entry.store in stores
        found = self._open_output(name)
        return found is not None and not set(stores).isdisjoint(found.stores)

    # ------------------------------------------------------------------------------------------------ shown
    def stats(self) -> Stats:
        """The statistics for status and metrics."""
        records, oldest = self.records, self.records.oldest()
        return Stats(
            usable=not records.problem,
            problem=records.problem,
            entries=len(records),
            size=records.size,
            oldest=None if oldest is None else max(0.0, self.now() - oldest),
            no_stale_after=self.no_stale_after,
            restored=self._put_back,
            rejected=records.rejected,
            served=dict(self._served),
            serving=len(self.unconfirmed),
        )
