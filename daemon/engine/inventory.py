"""Holds the newest version of every object, and who depends on whom.

Versions come from the watch and from the answers of the daemon's own writes, in any order: the newest
wins, and what is deleted stays deleted. So no run decides on a version older than one that this process has
written or read.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from operator import contains
from typing import Final, TypeAlias

import msgspec

from syncret.config.meta import GroupKind, NullIsEmpty, ObjectRef, OwnerReference, shared
from syncret.config.resources import kinds as table
from syncret.daemon.engine.reconciler import ANY, EVERYTHING, Dependency, On
from syncret.daemon.homes.contract import StoredObject, WatchEvent, WatchEventType

DependenciesOf: TypeAlias = Callable[[StoredObject], Iterable[Dependency]]

NAMESPACE: Final = table.NAMESPACE.group_kind

MOST_TOMBSTONES: Final = 4096
"""Deletions that are remembered. An event that is late by more than that many deletions is not expected."""


class Change(msgspec.Struct, frozen=True):
    """A version that the inventory did not have: what stood before, and what stands now."""

    ref: ObjectRef
    before: StoredObject | None
    after: StoredObject | None
    touched: bool = False
    """The version is the same, but its content, kept in files outside of the home's store, was changed."""

    @property
    def on(self) -> On:
        """The parts of the object that differ. It decodes both versions: ask only if it matters."""
        if self.touched:
            return On.DATA
        return EVERYTHING if self.after is None else difference(self.before, self.after)

    @property
    def version(self) -> str:
        """The version that made the change, or the last one of what is gone; none for a drift."""
        if self.touched:
            return ""  # it is no write, so it must not pass for one of that version
        stored = self.after or self.before
        return "" if stored is None else stored.resource_version

    def event(self) -> WatchEvent:
        """The change as an event, whether a watch announced it or not."""
        if self.after is None:
            type_ = WatchEventType.DELETED
        elif self.before is None:
            type_ = WatchEventType.ADDED
        else:
            type_ = WatchEventType.DRIFTED if self.touched else WatchEventType.MODIFIED
        return WatchEvent(type_, self.ref.group_kind, self.after or self.before)


class Inventory:
    """The engine's picture of the home. Anyone may read it; the engine alone writes it.

    The reverse index is a table from a depended-on name to its dependents; a dependency may have ANY for name
    or namespace, which is how a selector depends on objects that do not exist yet.
    """

    def __init__(self, dependencies: Mapping[GroupKind, DependenciesOf] | None = None) -> None:
        self._dependencies_of: dict[tuple[str, str], DependenciesOf] = {}
        for kind, dependencies_of in (dependencies or {}).items():
            self.learn(kind, dependencies_of)
        self._objects: dict[tuple[str, str], dict[str, dict[str, StoredObject]]] = {}
        """By group and kind, as they begin a reference: that is quicker than its `group_kind`."""
        self._tombstones: dict[ObjectRef, StoredObject] = {}
        self._unknown: set[GroupKind] = set()
        self._depends_on: dict[ObjectRef, tuple[Dependency, ...]] = {}
        # A single dependent is stored without a dict, which takes 232 bytes: most Secrets have just one.
        self._dependents: dict[int, dict[ObjectRef, ObjectRef | dict[ObjectRef, None]]] = {}
        """By the parts that they depend on: a change of a store's status wakes none of a hundred thousand.

        The flags are plain numbers here: operations on those of an enum take ten times as long.
        """
        self._selected: set[tuple[str, str]] = set()
        """Groups and kinds on which an object once depended without saying on which one: few."""
        self._namespaces: dict[str, Mapping[str, str]] = {}

    def learn(self, group_kind: GroupKind, dependencies: DependenciesOf) -> None:
        """Index objects of this kind by what they depend on, from their next change on."""
        self._dependencies_of[group_kind] = dependencies

    # --------------------------------------------------------------------------------------------- changes
    def apply(self, event: WatchEvent) -> Change | None:
        """Take in an event. None if it is no news: it is late, or its version is known already."""
        stored = event.object
        if stored is None:
            if event.type is WatchEventType.LISTED:
                self._unknown.discard(event.group_kind)
            elif event.type is WatchEventType.UNKNOWN:
                self._unknown.add(event.group_kind)
            return None
        if event.type is WatchEventType.DELETED:
            return self._deleted(stored)
        if event.type is WatchEventType.DRIFTED:
            held = self.get(stored.ref)
            return None if held is None else Change(stored.ref, held, held, touched=True)
        return self.record(stored)

    def record(self, stored: StoredObject) -> Change | None:
        """Take in a version that was written or read. None where a newer one is known, or its deletion."""
        ref = stored.ref
        held = self.get(ref)
        if held is not None and (held is stored or not stored.is_newer_than(held)):
            return None
        tombstone = self._tombstones.get(ref)
        if tombstone is not None:
            if tombstone.uid == stored.uid or not stored.is_newer_than(tombstone):
                return None
            del self._tombstones[ref]
        self._put(stored, held)
        return Change(ref, held, stored)

    def record_deleted(self, seen: StoredObject) -> Change | None:
        """Take in that this process deleted an object; a late event does not restore it."""
        held = self.get(seen.ref)
        if held is not None and held.uid != seen.uid and held.is_newer_than(seen):
            return None  # there is another object of that name already
        self._mark_deleted(seen)
        if held is None:
            return None
        self._remove(seen.ref)
        return Change(seen.ref, held, None)

    def _deleted(self, last: StoredObject) -> Change | None:
        ref = last.ref
        held = self.get(ref)
        if held is not None and held.is_newer_than(last):
            return None  # another object of that name, or one that is newer than the list that lacked it
        self._mark_deleted(last)
        if held is None:
            return None
        self._remove(ref)
        return Change(ref, held, None)

    def _mark_deleted(self, last: StoredObject) -> None:
        """Remember that an object is gone, and no more of it: answers of earlier writes may come."""
        former = self._tombstones.pop(last.ref, None)
        if former is None or last.is_newer_than(former):
            former = msgspec.structs.replace(last, data=b"")
        self._tombstones[last.ref] = former
        if len(self._tombstones) > MOST_TOMBSTONES:
            del self._tombstones[next(iter(self._tombstones))]

    # ----------------------------------------------------------------------------------------------- reading
    def get(self, ref: ObjectRef) -> StoredObject | None:
        """The newest version, or None."""
        namespaces = self._objects.get(ref[:2])
        objects = None if namespaces is None else namespaces.get(ref.namespace)
        return None if objects is None else objects.get(ref.name)

    def is_unknown(self, group_kind: GroupKind) -> bool:
        """Whether the kind cannot be watched now, so that absence says nothing."""
        return group_kind in self._unknown

    def list(self, group_kind: GroupKind, namespace: str | None = None) -> Iterator[StoredObject]:
        """Objects of a kind, in all namespaces or in one, by namespace and name."""
        namespaces = self._objects.get(group_kind, {})
        for each in sorted(namespaces) if namespace is None else (namespace,):
            objects = namespaces.get(each, {})
            for name in sorted(objects):
                yield objects[name]

    def namespaces_with(self, group_kind: GroupKind, name: str, most: int) -> Iterator[str]:
        """The namespaces that have an object of this kind and name; only so many are looked at."""
        for namespace, objects in islice(self._objects.get(group_kind, {}).items(), most):
            if name in objects:
                yield namespace

    def labels(self, ref: ObjectRef) -> Mapping[str, str]:
        """The labels of an object; none where it does not exist."""
        if ref.group_kind == NAMESPACE:
            return self._namespaces.get(ref.name, {})
        stored = self.get(ref)
        return {} if stored is None else stored.as_type(_Object).metadata.labels

    def count(self, group_kind: GroupKind) -> int:
        """How many objects of a kind there are."""
        return sum(map(len, self._objects.get(group_kind, {}).values()))

    def dependents(self, ref: ObjectRef, on: On = EVERYTHING) -> Collection[ObjectRef]:
        """The objects that depend on one of these things of this object, each once."""
        group, kind, namespace, name = ref
        keys = [ref]
        if ref[:2] in self._selected:
            keys += [
                ObjectRef(group, kind, namespace, ANY),
                ObjectRef(group, kind, ANY, name),
                ObjectRef(group, kind, ANY, ANY),
            ]
        flags = int(on)
        found: list[tuple[ObjectRef, ...]] = []
        for each, dependents in self._dependents.items():
            if each & flags:
                found += [_all(dependents[key]) for key in keys if key in dependents]
        return found[0] if len(found) == 1 else dict.fromkeys(chain.from_iterable(found))

    def has_dependents(self, ref: ObjectRef) -> bool:
        """Whether anything may depend on this object."""
        return ref[:2] in self._selected or any(map(contains, self._dependents.values(), repeat(ref)))

    def dependencies(self, ref: ObjectRef) -> Sequence[ObjectRef]:
        """The objects that this one depends on, in the order in which it names them."""
        return [each.ref for each in self._depends_on.get(ref, ())]

    @property
    def namespaces(self) -> Mapping[str, Mapping[str, str]]:
        """The labels of every namespace that exists, by its name."""
        return self._namespaces

    # ----------------------------------------------------------------------------------------------- writing
    def _put(self, stored: StoredObject, held: StoredObject | None) -> None:
        ref, kind = stored.ref, stored.ref[:2]
        self._objects.setdefault(kind, {}).setdefault(ref.namespace, {})[ref.name] = stored
        if held is None or not stored.has_same_generation(held):
            dependencies = self._dependencies_of.get(kind)
            if dependencies is not None:
                self._index(ref, self._named(dependencies, stored))
        if kind == NAMESPACE:
            self._namespaces[ref.name] = stored.as_type(_Object).metadata.labels

    def _remove(self, ref: ObjectRef) -> None:
        kind = self._objects[ref[:2]]
        objects = kind[ref.namespace]
        del objects[ref.name]
        if not objects:
            del kind[ref.namespace]
        self._index(ref, ())
        if ref.group_kind == NAMESPACE:
            self._namespaces.pop(ref.name, None)

    def _named(self, dependencies: DependenciesOf, stored: StoredObject) -> tuple[Dependency, ...]:
        """The dependencies of an object, each name once, and the names of objects that exist as theirs."""
        try:
            named: dict[ObjectRef, On] = {}
            for ref, on in dependencies(stored):
                known = named.get(ref)
                named[ref] = on if known is None else known | on
        except msgspec.ValidationError:
            return ()  # one bad document must not stop the others; its own run says what is wrong with it
        return tuple([_dependency(self._own_name(ref), on) for ref, on in named.items()])

    def _own_name(self, ref: ObjectRef) -> ObjectRef:
        """The reference of the object itself if it is known: it is held once then."""
        held = self.get(ref)
        return shared(*ref) if held is None else held.ref

    def _index(self, ref: ObjectRef, depends_on: tuple[Dependency, ...]) -> None:
        before = self._depends_on.pop(ref, ())
        if depends_on:
            self._depends_on[ref] = depends_on
        if before == depends_on:
            return
        for name, on in set(before).difference(depends_on):
            table = self._dependents[int(on)]
            dependents = table[name]
            if isinstance(dependents, dict):
                dependents.pop(ref, None)
            if not dependents or dependents == ref:
                del table[name]
        for name, on in depends_on:
            if ANY in name:
                self._selected.add(name[:2])
            table = self._dependents.setdefault(int(on), {})
            others = table.setdefault(name, ref)
            if isinstance(others, dict):
                others[ref] = None
            elif others != ref:
                table[name] = {others: None, ref: None}

    def __repr__(self) -> str:
        kinds = ", ".join(
            f"{kind}={self.count(GroupKind(group, kind))}" for group, kind in sorted(self._objects)
        )
        return f"<Inventory {kinds or 'empty'}>"


class _Labelled(msgspec.Struct):
    labels: dict[str, str] = {}


class _Object(msgspec.Struct):
    metadata: _Labelled


class _Metadata(msgspec.Struct, rename="camel"):
    """The metadata that can change without a new generation or uid."""

    labels: NullIsEmpty[dict[str, str]] = {}
    annotations: NullIsEmpty[dict[str, str]] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    deletion_timestamp: str = ""


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct, rename="camel"):
    conditions: NullIsEmpty[tuple[_Condition, ...]] = ()
    synced_push_secrets: msgspec.Raw = msgspec.Raw()
    observed_generation: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0

    def readiness(self) -> tuple[str, int, int, int]:
        """The condition Ready, and of a Deployment how far it is rolled out."""
        ready = next((each.status for each in self.conditions if each.type == "Ready"), "")
        return ready, self.observed_generation, self.updated_replicas, self.available_replicas


class _Head(msgspec.Struct):
    metadata: _Metadata
    status: NullIsEmpty[_Status] = msgspec.field(default_factory=_Status)


_NOTHING: Final = On(0)
_ALL_BUT_EXISTENCE: Final = On.SPEC | On.READINESS | On.DATA


def difference(before: StoredObject | None, after: StoredObject) -> On:
    """Which parts of an object differ between two versions.

    Kinds without a generation (Secrets, ConfigMaps) do not show it, so each of their changes counts as one of
    spec and data.
    """
    if before is None or before.uid != after.uid:
        return EVERYTHING
    if not before.generation:
        return _ALL_BUT_EXISTENCE
    try:
        old, new = before.as_type(_Head), after.as_type(_Head)
    except msgspec.ValidationError:
        return EVERYTHING  # a kind that others define, with a status of another form
    on = _NOTHING
    if before.generation != after.generation or old.metadata != new.metadata:
        on |= On.SPEC
    if old.status.readiness() != new.status.readiness():
        on |= On.READINESS
    if old.status.synced_push_secrets != new.status.synced_push_secrets:
        on |= On.DATA
    return on


def _all(dependents: ObjectRef | dict[ObjectRef, None]) -> tuple[ObjectRef, ...]:
    """A copy, since objects that are woken may change the table."""
    return tuple(dependents) if isinstance(dependents, dict) else (dependents,)


@lru_cache(maxsize=1024)
def _dependency(ref: ObjectRef, on: On) -> Dependency:
    """The same for all: that on a store on which thousands depend is one object."""
    return Dependency(ref, on)
