"""A write that is held back while the daemon only observes: what it would do, and never a value."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from syncret.config.meta import Document, ObjectRef, member
from syncret.daemon.core.conditions import READY
from syncret.daemon.core.plan.actions import Action, output_change
from syncret.daemon.core.plan.actions import Verb as ActionVerb

Verb: TypeAlias = Literal["create", "update", "delete", "finalizers", "status", "provider", "read"]
"""`provider`: it would write to a secret manager, or generate a value there; `read`: it would read one."""

OBJECTS: Final[Sequence[Verb]] = ("create", "update", "delete", "finalizers")
"""Writes that would change an object other than by its status."""

_TIMES: Final = ("refreshTime", "lastTransitionTime")
"""Times, which each sync changes."""

_METADATA: Final = ("labels", "annotations")

_VERBS: Final[Mapping[ActionVerb, Verb]] = {
    ActionVerb.CREATE: "create",
    ActionVerb.UPDATE: "update",
    ActionVerb.DELETE: "delete",
    ActionVerb.SET_FINALIZERS: "finalizers",
}


class HeldWrite(NamedTuple):
    """One write that was not made."""

    verb: Verb
    ref: ObjectRef
    detail: str = ""
    turns: bool = False
    """For a status: whether it would change the object from ready to not ready, or the reverse."""

    def __str__(self) -> str:
        return f"{self.verb} {self.ref}{f': {self.detail}' if self.detail else ''}"

    def as_document(self) -> dict[str, str]:
        """As JSON reports show it."""
        return {"action": self.verb, "object": str(self.ref), "detail": self.detail}


def held_action(action: Action) -> HeldWrite:
    """The write of an action: of an update, which keys and which metadata would be others."""
    change = output_change(action)
    before, after = action.before or {}, action.document or {}
    parts: list[str] = []
    if change is not None:
        for what, keys in (("adds", change.added), ("changes", change.changed), ("removes", change.removed)):
            if keys:
                parts.append(f"{what} {', '.join(keys)}")
    if before and after:
        parts += _metadata(before, after)
    return HeldWrite(_VERBS[action.verb], action.ref, "; ".join(parts))


def _metadata(before: Document, after: Document) -> Iterator[str]:
    old, new = member(before, "metadata"), member(after, "metadata")
    for name in _METADATA:
        differing = _differing(old.get(name) or {}, new.get(name) or {})
        if differing:
            yield f"{name} {', '.join(differing)}"
    for name in ("ownerReferences", "finalizers"):
        if (old.get(name) or []) != (new.get(name) or []):
            yield name
    for name in _differing(before, after):
        if name not in ("metadata", "status", "data"):
            yield name


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def held_status(ref: ObjectRef, before: Mapping[str, Any], after: Mapping[str, Any]) -> HeldWrite | None:
    """The write of a status; None where nothing but times would be others."""
    old, new = _without_times(before), _without_times(after)
    parts = [*_conditions(old, new), *(name for name in _differing(old, new) if name != "conditions")]
    return HeldWrite("status", ref, "; ".join(parts), _ready(old) != _ready(new)) if parts else None


def _ready(status: Mapping[str, Any]) -> object:
    found = (each for each in status.get("conditions") or () if each.get("type") == READY)
    return next((each.get("status") for each in found), None)


def _conditions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    known = {each.get("type"): each for each in old.get("conditions") or ()}
    for each in new.get("conditions") or ():
        if each != known.get(each.get("type")):
            yield f"{each.get('type')}: {each.get('status')} {each.get('reason', '')}".rstrip()


def _without_times(status: Mapping[str, Any]) -> Document:
    """The status without times and without empty members."""
    kept = {
        name: value
        for name, value in status.items()
        if name not in _TIMES and value not in (None, [], {}, "")
    }
    conditions = kept.get("conditions")
    if conditions:
        kept["conditions"] = [
            {name: value for name, value in each.items() if name not in _TIMES and value}
            for each in conditions
        ]
    return kept
