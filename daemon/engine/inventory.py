"""Holds the newest version of every object, and who depends on whom.

Knows which events are only the echo of what a reconciler wrote itself, so that they need not wake it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import msgspec

from syncret.config.meta import GroupKind, NullIsEmpty, ObjectRef, OwnerReference, shared
from syncret.daemon.engine.reconciler import ANY
from syncret.daemon.homes.contract import StoredObject, WatchEvent, WatchEventType

KEPT: Final = 8
"""Versions remembered of one object; an echo that was never heard must not stay for ever."""


class _Marks(msgspec.Struct, rename="camel"):
    """What of the metadata is no part of the spec and can change in one life."""

    labels: NullIsEmpty[dict[str, str]] = {}
    annotations: NullIsEmpty[dict[str, str]] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    deletion_timestamp: str = ""


class _Head(msgspec.Struct):
    metadata: _Marks


class _Write(NamedTuple):
    version: str
    writer: ObjectRef


class OwnWrites:
    """Writes whose events have not come back yet."""

    def __init__(self) -> None:
        self._writes: dict[ObjectRef, list[_Write]] = {}

    def __len__(self) -> int:
        return len(self._writes)

    def record(self, ref: ObjectRef, version: str, writer: ObjectRef) -> None:
        """`writer` has written this version of `ref`."""
        writes = self._writes.setdefault(ref, [])
        writes.append(_Write(version, writer))
        del writes[:-KEPT]

    def match(self, stored: StoredObject) -> ObjectRef | None:
        """Who wrote this version, if it is an echo; it and what was written before is forgotten."""
        writes = self._writes.get(stored.ref, ())
        for place, write in enumerate(writes):
            if write.version == stored.resource_version:
                left = writes[place + 1 :]
                if left:
                    self._writes[stored.ref] = list(left)
                else:
                    del self._writes[stored.ref]
                return write.writer
        return None

    def forget(self, ref: ObjectRef) -> None:
        """The object is gone."""
        self._writes.pop(ref, None)


def is_status_only(before: StoredObject | None, after: StoredObject) -> bool:
    """Whether nothing but the status changed: same life, same generation, same metadata.

    Kinds without a generation (Secrets, ConfigMaps) cannot be told, so every change of theirs counts.
    """
    if before is None or not after.has_same_generation(before):
        return False
    return before.as_type(_Head) == after.as_type(_Head)


DependenciesOf: TypeAlias = Callable[[StoredObject], Iterable[ObjectRef]]

NAMESPACE = GroupKind("", "Namespace")


class _Labelled(msgspec.Struct):
    labels: dict[str, str] = {}


class _Object(msgspec.Struct):
    metadata: _Labelled


class Inventory:
    """The engine's picture of the home, fed by its watch. Anyone may read it; the engine alone writes it.

    The reverse index is a table from a depended-on name to its dependents; a reference may say ANY for name
    or namespace, which is how a selector depends on objects that do not exist yet.
    """

    def __init__(self, references: Mapping[GroupKind, DependenciesOf] | None = None) -> None:
        self._references: dict[GroupKind, DependenciesOf] = dict(references or {})
        self._objects: dict[tuple[str, str], dict[str, dict[str, StoredObject]]] = {}
        """By group and kind, as they begin a reference: that is quicker than its `group_kind`."""
        self._depends_on: dict[ObjectRef, tuple[ObjectRef, ...]] = {}
        # One dependent stands for itself: each of ten thousand Secrets has one, and a dict takes 232 bytes.
        self._dependents: dict[ObjectRef, ObjectRef | dict[ObjectRef, None]] = {}
        self._selected: set[tuple[str, str]] = set()
        """Groups and kinds on which somebody once depended without saying on which object: few."""
        self._namespaces: dict[str, Mapping[str, str]] = {}

    def learn(self, group_kind: GroupKind, references: DependenciesOf) -> None:
        """Index objects of this kind by what they depend on, from their next change on."""
        self._references[group_kind] = references

    def apply(self, change: WatchEvent) -> StoredObject | None:
        """Take in one change. Returns the version before it."""
        if change.object is None:
            return None
        if change.type is WatchEventType.DELETED:
            return self._remove(change.object.ref)
        return self._put(change.object)

    def get(self, ref: ObjectRef) -> StoredObject | None:
        """The newest version, or None."""
        namespaces = self._objects.get(ref[:2])
        objects = None if namespaces is None else namespaces.get(ref.namespace)
        return None if objects is None else objects.get(ref.name)

    def list(self, group_kind: GroupKind, namespace: str | None = None) -> Iterator[StoredObject]:
        """Objects of a kind, in all namespaces or in one, by namespace and name."""
        namespaces = self._objects.get(group_kind, {})
        for each in sorted(namespaces) if namespace is None else (namespace,):
            objects = namespaces.get(each, {})
            for name in sorted(objects):
                yield objects[name]

    def labels(self, ref: ObjectRef) -> Mapping[str, str]:
        """The labels of an object; none where it does not exist."""
        if ref.group_kind == NAMESPACE:
            return self._namespaces.get(ref.name, {})
        stored = self.get(ref)
        return {} if stored is None else stored.as_type(_Object).metadata.labels

    def count(self, group_kind: GroupKind) -> int:
        """How many objects of a kind there are."""
        return sum(map(len, self._objects.get(group_kind, {}).values()))

    def dependents(self, ref: ObjectRef) -> Iterable[ObjectRef]:
        """The objects that a change of this one concerns, each once."""
        group, kind, namespace, name = ref
        found: dict[ObjectRef, None] = {}
        keys = [ref]
        if ref[:2] in self._selected:
            keys += [
                ObjectRef(group, kind, namespace, ANY),
                ObjectRef(group, kind, ANY, name),
                ObjectRef(group, kind, ANY, ANY),
            ]
        for key in keys:
            dependents = self._dependents.get(key)
            if dependents is not None:
                found.update(_all(dependents))
        return found.keys()

    def dependencies(self, ref: ObjectRef) -> Sequence[ObjectRef]:
        """The objects that this one depends on, in the order in which it names them."""
        return self._depends_on.get(ref, ())

    @property
    def namespaces(self) -> Mapping[str, Mapping[str, str]]:
        """The labels of every namespace that exists, by its name."""
        return self._namespaces

    def _put(self, stored: StoredObject) -> StoredObject | None:
        ref = stored.ref
        kind = ref.group_kind
        objects = self._objects.setdefault(kind, {}).setdefault(ref.namespace, {})
        before = objects.get(ref.name)
        objects[ref.name] = stored
        if before is None or not stored.has_same_generation(before):
            references = self._references.get(kind)
            if references is not None:
                self._index(ref, _references(references, stored))
        if kind == NAMESPACE:
            self._namespaces[ref.name] = stored.as_type(_Object).metadata.labels
        return before

    def _remove(self, ref: ObjectRef) -> StoredObject | None:
        kind = self._objects.get(ref[:2], {})
        objects = kind.get(ref.namespace, {})
        before = objects.pop(ref.name, None)
        if not objects:
            kind.pop(ref.namespace, None)
        self._index(ref, ())
        if ref.group_kind == NAMESPACE:
            self._namespaces.pop(ref.name, None)
        return before

    def _index(self, ref: ObjectRef, depends_on: tuple[ObjectRef, ...]) -> None:
        before = self._depends_on.pop(ref, ())
        if depends_on:
            self._depends_on[ref] = depends_on
        if before == depends_on:
            return
        for gone in set(before).difference(depends_on):
            dependents = self._dependents[gone]
            if isinstance(dependents, dict):
                dependents.pop(ref, None)
            if not dependents or dependents == ref:
                del self._dependents[gone]
        for each in depends_on:
            if ANY in each:
                self._selected.add(each[:2])
            others = self._dependents.setdefault(each, ref)
            if isinstance(others, dict):
                others[ref] = None
            elif others != ref:
                self._dependents[each] = {others: None, ref: None}

    def __repr__(self) -> str:
        kinds = ", ".join(
            f"{kind}={self.count(GroupKind(group, kind))}" for group, kind in sorted(self._objects)
        )
        return f"<Inventory {kinds or 'empty'}>"


def _all(dependents: ObjectRef | dict[ObjectRef, None]) -> dict[ObjectRef, None]:
    return dependents if isinstance(dependents, dict) else {dependents: None}


def _references(references: DependenciesOf, stored: StoredObject) -> tuple[ObjectRef, ...]:
    try:
        return tuple(dict.fromkeys(map(_compact, references(stored))))
    except msgspec.ValidationError:
        return ()  # one bad document must not stop the others; its own run says what is wrong with it


@lru_cache(maxsize=1024)
def _compact(ref: ObjectRef) -> ObjectRef:
    """The same name; that of a store on which thousands depend is one object."""
    return shared(*ref)
