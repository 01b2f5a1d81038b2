"""Who belongs to whom, and which owners are gone: the memory of the garbage collector."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from syncret.config.meta import Document, ObjectRef

_GRAVES: Final = 10_000
"""How many gone owners are remembered. It serves writers that come moments too late, not history."""


def owner_references(document: Document) -> Sequence[dict[str, Any]]:
    """The owner references of a document."""
    references: Sequence[dict[str, Any]] = document["metadata"].get("ownerReferences", ())
    return references


class Owners:
    """Which objects name which uid as an owner.

    A uid that was never seen here counts as an owner that exists: the real collector asks the API server for
    it, and a simulation would lose objects whose owners it was not given. A uid that is gone counts as gone,
    even for objects that come after it.
    """

    def __init__(self) -> None:
        # Tuples: an object has one owner or two, an owner few dependents, but there are thousands of each.
        self._uids: dict[ObjectRef, tuple[str, ...]] = {}
        self._dependents: dict[str, tuple[ObjectRef, ...]] = {}
        self._gone: dict[str, None] = {}

    def enter(self, ref: ObjectRef, uids: Sequence[str]) -> None:
        """Record whom the object names as its owners now; none strikes it off."""
        old = self._uids.get(ref, ())
        if not (uids or old):
            return
        new = tuple(dict.fromkeys(uids))
        if new == old:
            return
        for uid in old:
            left = tuple(other for other in self._dependents.pop(uid) if other != ref)
            if left:
                self._dependents[uid] = left
        for uid in new:
            self._dependents[uid] = (*self._dependents.get(uid, ()), ref)
        if new:
            self._uids[ref] = new
        else:
            del self._uids[ref]

    def dependents(self, uid: str) -> Sequence[ObjectRef]:
        """The objects that name the uid as an owner, in the order of their references."""
        return sorted(self._dependents.get(uid, ()))

    def bury(self, uid: str) -> None:
        """Remember that an object is gone."""
        self._gone[uid] = None
        if len(self._gone) > _GRAVES:
            del self._gone[next(iter(self._gone))]

    def is_gone(self, uid: str) -> bool:
        """Whether an object with that uid existed here and is gone."""
        return uid in self._gone

    def bereft(self, ref: ObjectRef) -> bool:
        """Whether the object names an owner that is gone."""
        return not self._gone.keys().isdisjoint(self._uids.get(ref, ()))

    def survive(self, ref: ObjectRef, going: Collection[str]) -> bool:
        """Whether the object has an owner that is neither gone nor going."""
        return any(uid not in self._gone and uid not in going for uid in self._uids.get(ref, ()))
