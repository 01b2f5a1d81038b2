"""Documents of unknown kinds: misspelt, which is an error, or foreign, which is a note.

A folder that Kustomize, Helm or Flux read holds other objects, and files that are no objects at all.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import PurePath
from typing import Final

from syncret.config.errors import Problem, Severity
from syncret.config.meta import Document, GroupKind
from syncret.config.resources.kinds import OUR_GROUPS, PARTS_OF_RELEASES
from syncret.config.spelling import did_you_mean

_SCENARIO: Final = "Scenario"
_CORE_KINDS: Final = frozenset(
    {
        *("Binding", "ComponentStatus", "Endpoints", "Event", "LimitRange", "Node", "PersistentVolume"),
        *("PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota", "Service"),
    }
)
"""The kinds of Kubernetes' core group that we do not read."""

_NEAR: Final = 0.8
"""The similarity from which a group, or a field of an object, counts as misspelt."""

_TOOLS_FILES: Final = frozenset({"kustomization", "Chart", "values"})
"""First parts of the names of files of Kustomize and Helm, which need not be objects."""

_SEPARATOR: Final = re.compile(r"[-._]")

_OBJECT_FIELDS: Final = ("apiVersion", "kind", "metadata", "spec")
_CONTENT: Final = frozenset({*_OBJECT_FIELDS, "data", "stringData", "items"})


def of_unknown_kind(name: GroupKind, known: Sequence[GroupKind]) -> Problem:
    """The problem of a document whose kind we do not know: a note if its group is none of ours."""
    groups = [one.group for one in known if one.kind == name.kind]
    is_ours = name.group in OUR_GROUPS or not name.group
    near = "" if is_ours else _near_group(name.group)
    if is_ours and name.kind == _SCENARIO:
        hint = "run it with `syncret simulate`"
        return Problem(path="kind", message="a Scenario is not a manifest", hint=hint)
    if is_ours and name.kind in PARTS_OF_RELEASES:
        message = f"a {name.kind} is a part of a release, and no object"
        hint = "`syncret release` renders it; on a host the daemon does, where all parts stand in one file"
        return Problem(path="", message=message, hint=hint, severity=Severity.NOTE)
    if not name.group and name.kind in _CORE_KINDS:
        return _foreign(name.kind)
    if not is_ours and any(one.group == name.group and _similar(name.kind, one.kind) for one in known):
        is_ours = True  # a group with kinds of other products, too
    if not (is_ours or near):
        hint = f"syncret reads those of {groups[0]}" if groups and groups[0] else ""
        return _foreign(f"{name.kind} of {name.group}", hint)
    if groups:
        message = f'no kind "{name.kind}" in group "{name.group}"'
        hint = f"the group is {groups[0]}" if groups[0] else "write apiVersion: v1"
        return Problem(path="apiVersion", message=message, hint=hint)
    if near:
        hint = f"did you mean {near}?"
        return Problem(path="apiVersion", message=f'unknown group "{name.group}"', hint=hint)
    hint = did_you_mean(name.kind, [one.kind for one in known])
    return Problem(path="kind", message=f'unknown kind "{name.kind}"', hint=hint)


def of_no_object(file: str, document: Document) -> Problem | None:
    """The note on a document that is no object of Kubernetes; None if it is one, or should be one."""
    stated = [field for field in ("apiVersion", "kind") if document.get(field)]
    if _SEPARATOR.split(PurePath(file).stem)[0] in _TOOLS_FILES and len(stated) < len(("apiVersion", "kind")):
        return _foreign("a file of Kustomize or Helm")
    if stated or not document.keys().isdisjoint(_CONTENT):
        return None
    misspelt = (_similar(str(name), field) for name in document for field in _OBJECT_FIELDS)
    return None if not document or any(misspelt) else _foreign("what is no object of Kubernetes")


def _foreign(what: str, hint: str = "") -> Problem:
    return Problem(path="", message=f"{what} is passed over", hint=hint, severity=Severity.NOTE)


def _near_group(group: str) -> str:
    return next((each for each in sorted(OUR_GROUPS) if _similar(group, each)), "")


def _similar(word: str, other: str) -> bool:
    return SequenceMatcher(None, word[:100].lower(), other.lower()).ratio() >= _NEAR
