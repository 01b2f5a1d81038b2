"""Stores the newest version of every object by kind, then namespace, then name."""

from collections.abc import Iterator, Sequence

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.backends.contract import Stored


class Shelves:
    """The newest version of every object, by name."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], dict[str, dict[str, Stored]]] = {}
        """By group and kind, as they begin a reference: that is quicker than its `group_kind`."""

    def __iter__(self) -> Iterator[Stored]:
        """All objects, in the order of their references."""
        for kind in self.kinds():
            yield from self.of_kind(kind)

    def __contains__(self, ref: ObjectRef) -> bool:
        return self.get(ref) is not None

    def kinds(self) -> Sequence[GroupKind]:
        """The kinds of which there is an object."""
        return tuple(GroupKind(*kind) for kind in sorted(self._kinds))

    def get(self, ref: ObjectRef) -> Stored | None:
        namespaces = self._kinds.get(ref[:2])
        shelf = None if namespaces is None else namespaces.get(ref.namespace)
        return None if shelf is None else shelf.get(ref.name)

    def put(self, stored: Stored) -> None:
        """Place the version under its name, in place of the one before."""
        ref = stored.ref
        self._kinds.setdefault(ref[:2], {}).setdefault(ref.namespace, {})[ref.name] = stored

    def remove(self, ref: ObjectRef) -> None:
        """Take the object away; KeyError where there is none."""
        namespaces = self._kinds[ref[:2]]
        shelf = namespaces[ref.namespace]
        del shelf[ref.name]
        if not shelf:
            del namespaces[ref.namespace]
        if not namespaces:
            del self._kinds[ref[:2]]

    def of_kind(self, kind: GroupKind, namespace: str | None = None) -> Sequence[Stored]:
        """Objects of a kind, in one namespace or all, in the order of their names."""
        namespaces = self._kinds.get(kind, {})
        chosen = sorted(namespaces) if namespace is None else [namespace]
        return [shelf[name] for one in chosen if (shelf := namespaces.get(one)) for name in sorted(shelf)]

    def in_namespace(self, namespace: str) -> Sequence[Stored]:
        """All objects in a namespace, in the order of their references."""
        return [stored for kind in self.kinds() for stored in self.of_kind(kind, namespace)]

    def is_empty(self, namespace: str) -> bool:
        """Whether nothing is in the namespace."""
        return not any(namespace in namespaces for namespaces in self._kinds.values())
