"""The context of all reconcilers: the engine's parts, and what is kept in memory about objects."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec
from msgspec import Struct, field

from syncret.config.meta import GroupKind, NullIsEmpty, ObjectRef
from syncret.config.resources.kinds import NAMESPACE, PUSH_SECRET, SECRET_STORE, store_ref
from syncret.daemon.core.ownership import CREATED_BY, created_by
from syncret.daemon.core.plan.actions import Action, LastError, Options
from syncret.daemon.core.plan.secret_store import StoreSummary
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.reconciler import ANY
from syncret.daemon.engine.reconcilers.settled import SettledTargets
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.templates import Templates
from syncret.daemon.homes.contract import Home, ObjectReader, StoredObject, WatchEvent, WatchEventType
from syncret.providers.contract import Generator

if TYPE_CHECKING:  # few hosts have one
    from syncret.daemon.cache.cache import OfflineCache


class EventRecorder(Protocol):
    """Records events of objects, as `kubectl describe` shows them; no message contains a value."""

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        """Record one event."""
        ...


class NullEventRecorder:
    """Records nothing."""

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None: ...


class EventRecorderGroup:
    """Calls several recorders, in their order."""

    def __init__(self, *recorders: EventRecorder) -> None:
        self._recorders = recorders

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        for each in self._recorders:
            each.event(ref, warning=warning, reason=reason, message=message)


class HomeEventRecorder:
    """Hands events to the home, with the newest version of their objects.

    Events of objects that are gone, or in a namespace that is being deleted, are dropped.
    """

    def __init__(self, home: Home, inventory: Inventory) -> None:
        self._home = home
        self._inventory = inventory

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        seen = self._inventory.get(ref)
        namespace = self._inventory.get(NAMESPACE.ref("", ref.namespace)) if ref.namespace else None
        if seen is not None and (namespace is None or b"deletionTimestamp" not in namespace.data):
            self._home.record_event(seen, warning=warning, reason=reason, message=message)


SECRET: Final = GroupKind("", "Secret")


class _Labelled(msgspec.Struct):
    labels: NullIsEmpty[dict[str, str]] = {}


class _Head(msgspec.Struct):
    metadata: _Labelled


class OwnedSecrets:
    """The Secrets that carry the label of an ExternalSecret, whatever their names.

    Only those with another name than their owner's are kept, and by a hash of the label: a home may hold a
    hundred thousand Secrets, and few have one.
    """

    def __init__(self) -> None:
        self._refs: dict[int, tuple[ObjectRef, ...]] = {}

    def concerns(self, kind: GroupKind) -> bool:
        """Secrets alone."""
        return kind == SECRET

    def notice(self, event: WatchEvent) -> None:
        """Index the new version of a Secret."""
        if event.object is None:
            return
        ref = event.object.ref
        label = event.object.as_type(_Head).metadata.labels.get(CREATED_BY)
        if label is None or label == created_by(ref.namespace, ref.name):
            return
        key = hash(label)
        known = self._refs.get(key, ())
        if event.type is WatchEventType.DELETED:
            left = tuple(each for each in known if each != ref)
            if left:
                self._refs[key] = left
            else:
                self._refs.pop(key, None)
        elif ref not in known:
            self._refs[key] = (*known, ref)

    def candidates(self, namespace: str, name: str) -> tuple[ObjectRef, ...]:
        """Secrets that may carry the label of this ExternalSecret: the caller reads them again."""
        namesake = ObjectRef(*SECRET, namespace, name)
        return (namesake, *self._refs.get(hash(created_by(namespace, name)), ()))


class _StoreRef(msgspec.Struct, rename="camel"):
    name: str = ""
    kind: str = SECRET_STORE.kind
    label_selector: dict[str, Any] | None = None


class _PushSpec(msgspec.Struct, rename="camel"):
    secret_store_refs: tuple[_StoreRef, ...] = ()
    deletion_policy: str = ""


class _PushStatus(msgspec.Struct, rename="camel"):
    synced_push_secrets: NullIsEmpty[dict[str, msgspec.Raw]] = {}


class _PushHead(msgspec.Struct):
    spec: _PushSpec
    status: NullIsEmpty[_PushStatus] = field(default_factory=_PushStatus)


_NONE: Final[frozenset[ObjectRef]] = frozenset()


class PushIndex:
    """The PushSecrets that delete what they pushed, by the stores that they name, select or pushed to."""

    def __init__(self) -> None:
        self._stores: dict[ObjectRef, frozenset[ObjectRef]] = {}
        self._pushes: dict[ObjectRef, set[ObjectRef]] = {}

    def concerns(self, kind: GroupKind) -> bool:
        """PushSecrets alone."""
        return kind == PUSH_SECRET.group_kind

    def notice(self, event: WatchEvent) -> None:
        """Index the new version of a PushSecret."""
        if event.object is None:
            return
        ref, is_gone = event.object.ref, event.type is WatchEventType.DELETED
        former = self._stores.pop(ref, _NONE)
        stores = _NONE if is_gone else frozenset(_stores_of(event.object))
        if stores:
            self._stores[ref] = stores
        for store in former - stores:
            self._pushes[store].discard(ref)
            if not self._pushes[store]:
                del self._pushes[store]
        for store in stores - former:
            self._pushes.setdefault(store, set()).add(ref)

    def at(self, store: ObjectRef) -> set[ObjectRef]:
        """The PushSecrets that may have something to delete at this store."""
        any_name = store._replace(name=ANY)
        return self._pushes.get(store, set()) | self._pushes.get(any_name, set())


def _stores_of(push: StoredObject) -> Iterator[ObjectRef]:
    try:
        head = push.as_type(_PushHead)
    except msgspec.ValidationError:
        return  # its own run reports what is wrong with it
    if head.spec.deletion_policy != "Delete":
        return
    for named in head.spec.secret_store_refs:
        name = named.name if named.label_selector is None else ANY
        yield store_ref(named.kind, name, push.ref.namespace)
    for key in head.status.synced_push_secrets:
        kind, _, name = key.partition("/")
        yield store_ref(kind, name, push.ref.namespace)


class StoreSummaries:
    """Decodes each version of a store once, however many objects refer to it."""

    def __init__(self) -> None:
        self._known: dict[ObjectRef, tuple[StoredObject, StoreSummary]] = {}

    def of(self, stored: StoredObject) -> StoreSummary:
        """The summary of this version."""
        known = self._known.get(stored.ref)
        if known is not None and known[0] is stored:
            return known[1]
        head = stored.as_type(StoreSummary)
        self._known[stored.ref] = (stored, head)
        return head

    def forget(self, ref: ObjectRef) -> None:
        """Drop the summary of a store that is gone."""
        self._known.pop(ref, None)


class ObjectMemory:
    """Facts about objects beyond their status; a restart loses them, the next refresh restores them."""

    def __init__(self) -> None:
        self._origins: dict[ObjectRef, Mapping[str, str]] = {}
        self._errors: dict[ObjectRef, LastError] = {}
        self._notes: dict[ObjectRef, tuple[str, ...]] = {}
        self._requests: dict[ObjectRef, int] = {}
        self._had_first_run: set[ObjectRef] = set()

    def succeeded(self, ref: ObjectRef, origins: Mapping[str, str] | None = None) -> None:
        """Clear the last error; `origins` has the entry of the spec that each key came from."""
        self._errors.pop(ref, None)
        if origins:
            self._origins[ref] = _held(tuple(origins.items()))

    def failed(self, ref: ObjectRef, error: LastError) -> None:
        """Keep the error that the object has now."""
        self._errors[ref] = error

    def forget(self, ref: ObjectRef) -> None:
        """Drop what is known about an object that is gone."""
        self._origins.pop(ref, None)
        self._errors.pop(ref, None)
        self._requests.pop(ref, None)
        self._notes.pop(ref, None)
        self._had_first_run.discard(ref)

    def origins(self, ref: ObjectRef) -> Mapping[str, str]:
        """The entry of the spec that each key came from, as far as this process has fetched it."""
        return self._origins.get(ref, {})

    def note(self, ref: ObjectRef, notes: tuple[str, ...]) -> None:
        """Keep notes of a run for `explain`; no values."""
        self._notes[ref] = notes

    def notes(self, ref: ObjectRef) -> tuple[str, ...]:
        """The notes of the last run."""
        return self._notes.get(ref, ())

    def failure(self, ref: ObjectRef) -> LastError | None:
        """The error that the object has now, if any."""
        return self._errors.get(ref)

    @property
    def failing(self) -> AbstractSet[ObjectRef]:
        """The objects that have an error now, also one that is not retried."""
        return self._errors.keys()

    def mark_first_run(self, ref: ObjectRef) -> bool:
        """Note that a run of the object has ended. Returns whether it is the first of this process."""
        first = ref not in self._had_first_run
        self._had_first_run.add(ref)
        return first

    def had_first_run(self, ref: ObjectRef) -> bool:
        """Whether a run of the object has ended in this process."""
        return ref in self._had_first_run

    def request_refresh(self, ref: ObjectRef) -> None:
        """Note that an operator wants the object refreshed now, due or not."""
        self._requests[ref] = self._requests.get(ref, 0) + 1

    def refresh_request(self, ref: ObjectRef) -> int:
        """The number of the newest request that is open; 0: none."""
        return self._requests.get(ref, 0)

    def clear_refresh_request(self, ref: ObjectRef, request: int) -> None:
        """Note that a run that began with this request has served it; one that came meanwhile stays open."""
        if self._requests.get(ref) == request:
            del self._requests[ref]


@lru_cache(maxsize=1024)
def _held(origins: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """The origins, held once for thousands of objects that look alike."""
    return {intern(key): intern(place) for key, place in origins}


def ignore_action(run: ObjectRef, action: Action) -> None:
    """Do nothing: the default of `applied`."""
    del run, action


def ignore_object(ref: ObjectRef) -> None:
    """Do nothing: the default of `is_live`."""
    del ref


class ReconcilerContext(Struct, frozen=True, kw_only=True):
    """The parts of the engine that reconcilers use. None of them is global: a test builds its own."""

    inventory: Inventory
    home: ObjectReader
    sessions: SessionPool
    generator: Callable[[str], Generator[Any]]
    """The generator of a kind. Raises UnknownName or BrokenEntry."""
    clock: Clock
    events: EventRecorder
    wake: Callable[[ObjectRef], object]
    """Runs an object that waits for something that no watch event announces."""
    refresh: Callable[[ObjectRef], object]
    """Runs an object on behalf of an operator."""
    is_live: Callable[[ObjectRef], object] = ignore_object
    """Called when the files of a Delivery can be read."""
    templates: Templates
    applied: Callable[[ObjectRef, Action], object] = ignore_action
    """Called for each write that changed something, with the object of the run."""
    options: Options = field(default_factory=Options)
    memory: ObjectMemory = field(default_factory=ObjectMemory)
    store_summaries: StoreSummaries = field(default_factory=StoreSummaries)
    owned_secrets: OwnedSecrets = field(default_factory=OwnedSecrets)
    push_index: PushIndex = field(default_factory=PushIndex)
    settled: SettledTargets = field(default_factory=SettledTargets)
    cache: "OfflineCache | None" = None
    """The offline cache; None: there is none."""

    def handles(self, controller: str | None) -> bool:
        """Whether a store or generator of that class is this daemon's."""
        return self.options.handles(controller)

    def manifest_place(self, ref: ObjectRef) -> str | None:
        """File and line of the manifest of an object; None if no file defines it.

        If the object fails because of a field, such as a template, it is the line of the field.
        """
        place, failure = self.home.manifest_of(ref), self.memory.failure(ref)
        if place is not None and failure is not None:
            place = place._replace(line=place.line + failure.lines_below)
        return None if place is None else str(place)
