"""What the offline cache keeps, gives back, and lets go: outputs as last delivered, and answers of stores."""

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
"""Mark of a store whose login was refused: nothing of it is served while that stands."""
WITHDRAWN: Final = "withdrawn"
"""Mark of an output that became too old, and was taken back."""


class StoreId(NamedTuple):
    """One version of one store, for one namespace: what was read through another serves no one.

    A store is known by what its manifest says: that is the same in each pass without a state.
    """

    store: ObjectRef
    digest: str
    """Of its spec."""
    namespace: str

    @property
    def parts(self) -> tuple[str, ...]:
        """What names it."""
        return ("store", *self.store, self.digest, self.namespace)


def store_id(store: ObjectRef, data: bytes, namespace: str) -> StoreId:
    """A store as its home holds it, for those who ask from a namespace."""
    return StoreId(store, _spec_digest(data), namespace)


@lru_cache(maxsize=256)  # thousands of objects read from a few stores
def _spec_digest(data: bytes) -> str:
    spec = json.decode(data, type=_Spec).spec
    return sha256(json.encode(spec, order="sorted")).hexdigest()


class _Spec(Struct):
    spec: dict[str, Any] = {}


class Kept(NamedTuple):
    """What a store gave, and when."""

    content: bytes
    confirmed_at: float


class Output(NamedTuple):
    """An output as it was delivered last, and when its values were right."""

    data: Mapping[str, bytes]
    confirmed_at: float


class Stats(NamedTuple):
    """What is told of the cache."""

    usable: bool
    problem: str = ""
    entries: int = 0
    size: int = 0
    oldest: float | None = None
    """Age in seconds of the output that was confirmed longest ago, of those that are read again by time."""
    no_stale_after: float = 0.0
    restored: int = 0
    rejected: int = 0
    served: Mapping[str, int] = {}
    """Answers in the place of a store, by its name."""
    serving: int = 0
    """Outputs that could not be confirmed when that was tried last."""


class _Output(Struct, frozen=True, array_like=True):
    """What is in the box of an output."""

    digest: str
    data: dict[str, bytes]
    stores: tuple[bytes, ...]


class OfflineCache:
    """The cache of one run of the daemon."""

    def __init__(
        self, file: CacheFile, settings: Cache, clock: Callable[[], float], passed: Callable[[], float]
    ) -> None:
        """`clock` is the system's; `passed` counts seconds and is never set."""
        self.records = Records(file, settings, clock, passed)
        self.no_stale_after = settings.no_stale_after
        """How old an output may become, in seconds; 0: as old as it likes."""
        self.unconfirmed: set[ObjectRef] = set()
        """Outputs that could not be confirmed when that was tried last."""
        self.restored: set[ObjectRef] = set()
        """Outputs that were put back at the start, and are not confirmed yet."""
        self.served_since = inf
        """When the oldest value was right that was given in the place of a store."""
        self._put_back = 0
        self._served: dict[str, int] = {}

    def now(self) -> float:
        """The time; never earlier than what was seen before."""
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
        """Keep an output as it was delivered. `confirm_output` says when its values were right."""
        name = self._output(ref)
        if sum(map(len, data.values())) > LARGEST:
            self.records.drop(name)
            return
        ids = tuple([self._name(*each.parts) for each in stores])
        self.records.put(name, msgpack.encode(_Output(digest, dict(data), ids)), digest=digest)

    def confirm_output(self, ref: ObjectRef, confirmed_at: float, interval: float) -> None:
        """Its values were right then. `interval`: how often they are read again; 0: never by time."""
        self._forgive(ref)
        self.records.confirm(self._output(ref), confirmed_at, interval)

    def forget_output(self, ref: ObjectRef) -> None:
        """It is not to come back: its values were refused, or it is gone."""
        self._forgive(ref)
        self.records.drop(self._output(ref))

    def _forgive(self, ref: ObjectRef) -> None:
        self.unconfirmed.discard(ref)
        self.restored.discard(ref)
        self.records.mark(WITHDRAWN, self._output(ref)[1], is_set=False)

    def withdraw_output(self, ref: ObjectRef) -> None:
        """It is too old: it is not put back, and what was made of it is to go, too."""
        self.forget_output(ref)
        self.records.mark(WITHDRAWN, self._output(ref)[1], is_set=True)

    def is_withdrawn(self, ref: ObjectRef) -> bool:
        """Whether an output was taken back because it was too old, and was not confirmed since."""
        return self.records.has_mark(WITHDRAWN, self._output(ref)[1])

    def age(self, ref: ObjectRef) -> float | None:
        """Seconds since the values of an output were right; None if it is not kept, or has no age."""
        entry = self.records.get(self._output(ref))
        return None if entry is None or entry.lasts else max(0.0, self.now() - entry.confirmed_at)

    def output(self, ref: ObjectRef) -> Output | None:
        """An output that is to be put back at a start; None if it may not be."""
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
        """An output was put back."""
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
        """A store gave this for a need, now."""
        name = self._read(store, need)
        if len(content) > LARGEST:
            self.records.drop(name)
        elif self.records.opened(name) != content:
            self.records.put(name, content, self._name(*store.parts))
        else:
            self.records.confirm(name, self.now(), max(interval, 1.0))

    def read(self, store: StoreId, need: str) -> Kept | None:
        """What a store gave for a need when it answered last; None if there is none that may be used."""
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
        told = str(store.store)
        self._served[told] = self._served.get(told, 0) + 1
        return Kept(content, entry.confirmed_at)

    def forget_read(self, store: StoreId, need: str) -> None:
        """The store refused it, or has it no longer."""
        self.records.drop(self._read(store, need))

    def store_answered(self, store: StoreId) -> None:
        """It let us in."""
        self.records.mark(REFUSED, self._name(*store.parts), is_set=False)

    def store_refused(self, store: StoreId) -> None:
        """It did not let us in: nothing of it is used until it does."""
        self.records.mark(REFUSED, self._name(*store.parts), is_set=True)

    def clear(self, stores: Collection[StoreId] | None = None) -> int:
        """Forget everything, or what came from these stores; how many records that were."""
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
        """What is told of it."""
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
