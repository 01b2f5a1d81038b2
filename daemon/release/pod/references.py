"""What a module's `from` and `${...}` name: sensitive fields, groups of them, plain values."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.config.paths import parse
from syncret.daemon.release.findings import Findings, Place, below
from syncret.daemon.release.leaves import is_sensitive
from syncret.daemon.release.model import Absent, Broken, Leaf, Tree

_ROOTS: Final = ("config", "requires")
_HOLE: Final = re.compile(r"\$\$\{|\$\{((?:config|requires)(?![A-Za-z0-9_$-])[^}]*)\}")
_MISSING: Final = object()
_SHOWN: Final = 5


class Target(NamedTuple):
    """What a `from` names: labels of sensitive fields, of a group several."""

    labels: tuple[str, ...]
    path: str
    is_group: bool = False


class References:
    """Looks references up in the values of a release."""

    def __init__(self, tree: Document, findings: Findings) -> None:
        self._tree = tree
        self._findings = findings

    @cached_property
    def _names(self) -> list[str]:
        """The ways to all fields, for suggestions."""
        return list(_paths(self._tree))

    def target(self, written: Json, place: Place, *, groups: bool) -> Target | None:
        """What a `from` names; None if it names nothing, which is reported here or elsewhere."""
        if is_object(written) and is_sensitive(written):
            return Target((place.path,), place.path)  # a resolved release: read with the other fields
        if written is None:
            hint = "an unquoted # begins a comment in YAML: leave it out, or write from: '#config...'"
            self._findings.error(place, "is empty, maybe because of a comment", hint)
            return None
        if not isinstance(written, str):
            self._findings.error(place, "must name a sensitive field", "write from: config.db.password")
            return None
        path = written.removeprefix("#")
        found = self._at(path, place)
        if found is None or isinstance(found, Broken):
            return None
        if isinstance(found, Leaf):
            return Target((found.label,), path)
        labels = tuple(leaves_of(found))
        if is_object(found) or is_list(found):
            if labels and groups:
                return Target(labels, path, is_group=True)
            if labels:
                hint = f"write from: {' or '.join(labels[:_SHOWN])}"
                self._findings.error(place, "names a group, not a sensitive field", hint)
                return None
        hint = f"for a plain field write value: '${{{path}}}'"
        self._findings.error(place, "names a plain field, not a sensitive one", hint)
        return None

    def _at(self, path: str, place: Place) -> Tree | None:
        """The node at a path; None if there is none, which is reported."""
        steps = parse(path)
        written = ""
        for step in steps:
            written = below(written, step)
        if not steps or steps[0] not in _ROOTS or written != path:
            hint = "write config. or requires. and the way to the field, such as config.db.password"
            self._findings.error(place, "is no way to a field", hint)
            return None
        found: Tree = self._tree
        for step in steps:
            found = _step(found, step)
            if isinstance(found, Broken):
                return found
            if found is _MISSING:
                hint = self._findings.suggested(path, self._names) or "declare it in spec.config"
                self._findings.error(place, "names a field that is not declared", hint)
                return None
        return found

    def filled(self, text: str, place: Place) -> str | None:
        """The text with plain values for its `${...}`; None if one has no value, or cannot stand there."""
        pieces: list[str] = []
        done, is_whole = 0, True
        for hole in _HOLE.finditer(text):
            pieces.append(text[done : hole.start()])
            done = hole.end()
            if hole[1] is None:
                pieces.append("${")
                continue
            scalar = self._scalar(hole[1], place)
            is_whole = is_whole and scalar is not None
            pieces.append(scalar or "")
        return "".join([*pieces, text[done:]]) if is_whole else None

    def _scalar(self, path: str, place: Place) -> str | None:
        found = self._at(path, place)
        if found is None or isinstance(found, Broken | Absent):
            return None
        if isinstance(found, Leaf):
            self._findings.error(place, f"{path} is sensitive: it must not become text", "use from")
            return None
        if isinstance(found, str):
            return found
        if found is None or is_object(found) or is_list(found):
            self._findings.error(place, f"{path} is no scalar", "name a scalar: text, a number or a boolean")
            return None
        return json.dumps(found)


def _step(tree: Tree, step: str | int) -> Tree:
    if isinstance(tree, Broken):
        return tree
    if is_object(tree) and isinstance(step, str):
        return tree.get(step, _MISSING)
    if is_list(tree) and isinstance(step, int) and step < len(tree):
        return tree[step]
    return _MISSING


def leaves_of(tree: Tree) -> Iterator[str]:
    """The labels of the sensitive fields in a tree, in their order."""
    if isinstance(tree, Leaf):
        yield tree.label
    elif is_object(tree):
        for member in tree.values():
            yield from leaves_of(member)
    elif is_list(tree):
        for item in tree:
            yield from leaves_of(item)


def _paths(tree: Tree, path: str = "") -> Iterator[str]:
    """The ways to all fields of a tree."""
    if is_object(tree):
        members: Mapping[str, Tree] = tree
        for name, member in members.items():
            yield from _paths(member, below(path, name))
    elif is_list(tree):
        for index, item in enumerate(tree):
            yield from _paths(item, below(path, index))
    else:
        yield path
