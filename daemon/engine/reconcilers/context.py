"""What is remembered of each object beyond its status: origins of keys, the failure, wishes of operators.

What is worth telling about an object as it happens.

Which Secrets carry the label of an ExternalSecret that owns them, whatever their names.

What most reconciles ask about a store: whose it is, who may use it, and whether it is ready.

What every reconciler works with. Nothing of it is global: a test builds its own context.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, Final, Protocol, TypeAlias

import msgspec
from msgspec import Struct, field

from syncret.config.meta import GroupKind, Metadata, NullIsEmpty, ObjectRef
from syncret.config.resources.kinds import role_of
from syncret.config.resources.secret_store import SecretStoreStatus, StoreCondition
from syncret.daemon.core.ownership import CREATED_BY
from syncret.daemon.core.plan.actions import Action, LastError, Options
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.templates import Templates
from syncret.daemon.homes.contract import ObjectReader, StoredObject, WatchEvent, WatchEventType
from syncret.providers.contract import Generator


class EventRecorder(Protocol):
    """Hears events. Their messages carry names of keys and places, never values."""

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        """One thing that happened."""
        ...


class NullEventRecorder:
    """Nobody listens."""

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None: ...


SECRET: Final = GroupKind("", "Secret")


class _Labelled(msgspec.Struct):
    labels: NullIsEmpty[dict[str, str]] = {}


class _Head(msgspec.Struct):
    metadata: _Labelled


class OwnedSecrets:
    """An index over events. It may name a Secret that has lost the label since: whoever asks looks again.

    Keys are short numbers made of the label: a home may hold tens of thousands of Secrets.
    """

    def __init__(self) -> None:
        self._refs: dict[int, tuple[ObjectRef, ...]] = {}

    def notice(self, change: WatchEvent) -> None:
        """Take in a change of the home."""
        if change.object is None or change.object.ref.group_kind != SECRET:
            return
        label = change.object.as_type(_Head).metadata.labels.get(CREATED_BY)
        if label is None:
            return
        key, ref = hash(label), change.object.ref
        known = self._refs.get(key, ())
        if change.type is WatchEventType.DELETED:
            left = tuple(each for each in known if each != ref)
            if left:
                self._refs[key] = left
            else:
                self._refs.pop(key, None)
        elif ref not in known:
            self._refs[key] = (*known, ref)

    def by(self, label: str) -> tuple[ObjectRef, ...]:
        """The Secrets that carry this label, as far as is known."""
        return self._refs.get(hash(label), ())


class _Spec(msgspec.Struct, frozen=True):
    controller: str = ""
    conditions: tuple[StoreCondition, ...] = ()


class StoreSummary(msgspec.Struct, frozen=True):
    """A store without its provider's spec, which may be large."""

    metadata: Metadata
    spec: _Spec
    status: SecretStoreStatus = SecretStoreStatus()


class StoreSummaries:
    """Reads the head of each version of a store once, however many objects ask."""

    def __init__(self) -> None:
        self._known: dict[ObjectRef, tuple[StoredObject, StoreSummary]] = {}

    def of(self, stored: StoredObject) -> StoreSummary:
        """The head of this version."""
        known = self._known.get(stored.ref)
        if known is not None and known[0] is stored:
            return known[1]
        head = stored.as_type(StoreSummary)
        self._known[stored.ref] = (stored, head)
        return head

    def forget(self, ref: ObjectRef) -> None:
        """The store is gone."""
        self._known.pop(ref, None)


Failure: TypeAlias = LastError


class ObjectMemory:
    """Kept in memory alone: a restart loses it, the next refresh brings it back."""

    def __init__(self) -> None:
        self._origins: dict[ObjectRef, Mapping[str, str]] = {}
        self._failures: dict[ObjectRef, Failure] = {}
        self._wishes: dict[ObjectRef, int] = {}
        self._decided: set[ObjectRef] = set()

    def succeeded(self, ref: ObjectRef, origins: Mapping[str, str] | None = None) -> None:
        """Nothing is in the way of the object; `origins` says which entry of the spec gave each key."""
        self._failures.pop(ref, None)
        if origins:
            self._origins[ref] = _held(tuple(origins.items()))

    def failed(self, ref: ObjectRef, failure: Failure) -> None:
        """The object is not in order."""
        self._failures[ref] = failure

    def forget(self, ref: ObjectRef) -> None:
        """The object is gone."""
        self._origins.pop(ref, None)
        self._failures.pop(ref, None)
        self._wishes.pop(ref, None)
        self._decided.discard(ref)

    def origins(self, ref: ObjectRef) -> Mapping[str, str]:
        """Which entry of the spec gave each key, as far as it was seen by this process."""
        return self._origins.get(ref, {})

    def failure(self, ref: ObjectRef) -> Failure | None:
        """What stands in the way now, if anything."""
        return self._failures.get(ref)

    def mark_first_run(self, ref: ObjectRef) -> bool:
        """A run has come to an end with the object, whatever it was. Whether it is the first in this life."""
        first = ref not in self._decided
        self._decided.add(ref)
        return first

    def had_first_run(self, ref: ObjectRef) -> bool:
        """Whether a run of this life has come to an end with the object."""
        return ref in self._decided

    def request_refresh(self, ref: ObjectRef) -> None:
        """An operator wants the object to be done now, due or not."""
        self._wishes[ref] = self._wishes.get(ref, 0) + 1

    def refresh_request(self, ref: ObjectRef) -> int:
        """The number of the newest wish that stands; 0: none."""
        return self._wishes.get(ref, 0)

    def clear_refresh_request(self, ref: ObjectRef, wish: int) -> None:
        """A run that began with this wish has ended well. A wish that came meanwhile still stands."""
        if self._wishes.get(ref) == wish:
            del self._wishes[ref]


@lru_cache(maxsize=1024)
def _held(origins: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """A table of origins; thousands of objects that look alike have one in common."""
    return {intern(key): intern(place) for key, place in origins}


def is_looked_up(kind: GroupKind) -> bool:
    """Whether a run may look objects of this kind up; those of other groups are only ever targets."""
    return role_of(kind) is not None


def ignore_action(run: ObjectRef, action: Action) -> None:
    """Nobody wants to know what is written."""
    del run, action


class ReconcilerContext(Struct, frozen=True, kw_only=True):
    """The engine's side of a reconciler."""

    inventory: Inventory
    home: ObjectReader
    sessions: SessionPool
    generator: Callable[[str], Generator[Any]]
    """The generator of a kind. Raises UnknownName."""
    clock: Clock
    events: EventRecorder
    wake: Callable[[ObjectRef], object]
    """Runs an object that waits for what no event would tell it."""
    templates: Templates
    applied: Callable[[ObjectRef, Action], object] = ignore_action
    """Called for each write that changed something, with the object of the run."""
    options: Options = field(default_factory=Options)
    memory: ObjectMemory = field(default_factory=ObjectMemory)
    store_summaries: StoreSummaries = field(default_factory=StoreSummaries)
    owned_secrets: OwnedSecrets = field(default_factory=OwnedSecrets)

    def handles(self, controller: str | None) -> bool:
        """Whether a store or generator of that class is this daemon's."""
        return self.options.handles(controller)
