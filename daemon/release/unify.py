"""Unifies what a module declares with what a release or a platform sets: a tree, and its sensitive fields."""

from msgspec import UNSET

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.daemon.release.findings import Findings, Place, below
from syncret.daemon.release.leaves import LeafReader, is_sensitive
from syncret.daemon.release.model import AUTHORS, Absent, Broken, Failed, Field, Leaf, Tree
from syncret.daemon.release.schema import (
    OPEN,
    TYPES,
    Group,
    Malformed,
    Node,
    Plain,
    Positions,
    Sensitive,
    is_same,
)


class Unifier:
    """Collects the sensitive fields of one release, in the order in which they are written."""

    def __init__(self, findings: Findings, leaves: LeafReader) -> None:
        self.findings = findings
        self._leaves = leaves
        self.fields: list[Field] = []

    def unified(self, node: Node, value: Json, place: Place, label: str) -> Tree:
        """The values below a node; None is an unset one. `label` is how references name it."""
        match node:
            case Group():
                return self._group(node, value, place, label)
            case Positions():
                return self._positions(node, value, place, label)
            case Sensitive():
                fulfilment = self._leaves.fulfilment(value, node.routing, place)
                self.fields.append(Field(label, node.routing, node.place, place, fulfilment))
                return Leaf(label)
            case Plain():
                return self._plain(node, value, place, label)
            case Malformed():
                return Broken()

    def _group(self, node: Group, value: Json, place: Place, label: str) -> Tree:
        if value is not None and not is_object(value):
            names = ", ".join(node.members)
            hint = f"its fields are {names}" if names else "write {}"
            self.findings.error(place, "must be a mapping", hint)
            return Broken()
        values: Document = value or {}
        suppressed = self.findings.unknown(place, values, node.members, what="field")
        return {
            name: Broken()
            if name in suppressed and name not in values
            else self.unified(member, values.get(name), place.at(name), below(label, name))
            for name, member in node.members.items()
        }

    def _positions(self, node: Positions, value: Json, place: Place, label: str) -> Tree:
        if value is not None and not is_list(value):
            self.findings.error(place, "must be a list", f"with {len(node.items)} items, as the module says")
            return Broken()
        values: list[Json] = value or []
        for index in range(len(node.items), len(values)):
            hint = f"the module declares {len(node.items)} items"
            self.findings.error(place.at(index), "is one item too many", hint)
            break
        return [
            self.unified(
                item,
                values[index] if index < len(values) else None,
                place.at(index),
                below(label, index),
            )
            for index, item in enumerate(node.items)
        ]

    def _plain(self, node: Plain, value: Json, place: Place, label: str) -> Tree:
        errors = self.findings
        if value is None:
            if node.default is not UNSET:
                return node.default
            if node.optional:
                return Absent()
            errors.error(place, f"is missing: the module asks for {node.type}", f"set it to a {node.type}")
            return Broken()
        if not TYPES[node.type](value) or (node.type not in OPEN and is_sensitive(value)):
            hint = (
                "quote it" if node.type == "string" and not is_object(value) else f"set it to a {node.type}"
            )
            errors.error(place, f"is no {node.type}", hint)
            return Broken()
        if node.one_of and not any(is_same(value, choice) for choice in node.one_of):
            shown = ", ".join(str(choice) for choice in node.one_of if not is_object(choice))
            errors.error(place, "is none of the values that the module allows", f"write one of {shown}")
            return Broken()
        return self.opened(value, place, label) if node.type in OPEN else value

    def opened(self, value: Json, place: Place, label: str) -> Tree:
        """A value without a schema: each mapping in it with the shape of a sensitive field is one."""
        if is_object(value):
            if is_sensitive(value):
                return self.whole(value, place, label)
            return {
                name: self.opened(item, place.at(name), below(label, name)) if _is_nested(item) else item
                for name, item in value.items()
            }
        if is_list(value):
            return [
                self.opened(item, place.at(index), below(label, index)) if _is_nested(item) else item
                for index, item in enumerate(value)
            ]
        return value

    def whole(self, written: Document, place: Place, label: str) -> Tree:
        """A leaf that holds routing and fulfilment in one mapping."""
        routing = self._leaves.routing(written, place, published=False)
        if routing is None:
            return Broken()
        said = {name: item for name, item in written.items() if name not in AUTHORS}
        known = self._leaves.known(said)
        fulfilment = self._leaves.fulfilment(known, routing, place) if known or not said else Failed()
        self.fields.append(Field(label, routing, place, place, fulfilment))
        return Leaf(label)


def _is_nested(value: Json) -> bool:
    return is_object(value) or is_list(value)
