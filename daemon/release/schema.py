"""The schema of what users set: read from a module's `config` and `requires` into a tree of nodes."""

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.config.spelling import did_you_mean
from syncret.daemon.release.findings import Findings, Place
from syncret.daemon.release.leaves import LeafReader, is_sensitive
from syncret.daemon.release.model import AUTHORS, Routing


def _is_int(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Json) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


TYPES: Final[Mapping[str, Callable[[Json], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "int": _is_int,
    "number": _is_number,
    "bool": lambda value: isinstance(value, bool),
    "list": is_list,
    "map": is_object,
    "any": lambda _: True,
}
OPEN: Final = ("any", "map", "list")
"""Types whose values may have sensitive fields inside."""

_OPTIONAL: Final = "?"
_LONG_FORM: Final = ("$type", "$default", "$optional", "$oneOf")


class Plain(Struct, frozen=True):
    """A plain field."""

    place: Place
    type: str
    optional: bool = False
    default: Json | UnsetType = UNSET
    one_of: tuple[Json, ...] = ()


class Sensitive(Struct, frozen=True):
    """A sensitive field."""

    place: Place
    routing: Routing


class Group(Struct, frozen=True):
    """A mapping of nodes."""

    place: Place
    members: "dict[str, Node]"


class Positions(Struct, frozen=True):
    """A list with exactly these items."""

    place: Place
    items: "tuple[Node, ...]"


class Malformed(Struct, frozen=True):
    """A node whose problem is reported: what users set there is not checked."""

    place: Place


Node: TypeAlias = Plain | Sensitive | Group | Positions | Malformed


class SchemaReader:
    """Reads the nodes of one module."""

    def __init__(self, findings: Findings, leaves: LeafReader) -> None:
        self.findings = findings
        self._leaves = leaves

    def node(self, written: Json, place: Place) -> Node:
        """The node that is written at a place. As deep as the document."""
        if isinstance(written, str):
            return self._short(written, place)
        if is_list(written):
            return Positions(
                place, tuple(self.node(item, place.at(index)) for index, item in enumerate(written))
            )
        if not is_object(written):
            hint = f"write a type: {', '.join(TYPES)}"
            self.findings.error(place, "is neither a type nor a group of fields", hint)
            return Malformed(place)
        if is_sensitive(written):
            routing = self._leaves.routing(written, place, published=True)
            return Malformed(place) if routing is None else Sensitive(place, routing)
        if any(name.startswith("$") for name in written):
            return self._long(written, place)
        return Group(place, {name: self.node(item, place.at(name)) for name, item in written.items()})

    def _short(self, written: str, place: Place) -> Node:
        name = written.removesuffix(_OPTIONAL)
        if name not in TYPES:
            self._unknown_type(name, place)
            return Malformed(place)
        return Plain(place, name, optional=written.endswith(_OPTIONAL))

    def _unknown_type(self, name: str, place: Place) -> None:
        self.findings.error(place, "has no known type", did_you_mean(name, list(TYPES)))

    def _long(self, written: Document, place: Place) -> Node:
        errors = self.findings
        unknown = [key for key in written if key not in _LONG_FORM]
        errors.unknown(place, unknown, (*_LONG_FORM, *AUTHORS))
        if "$type" not in written:
            if not unknown:
                hint = f"write $type: {'|'.join(TYPES)}, or for a sensitive field $opm: secret"
                errors.error(place.at("$type"), "is missing", hint)
            return Malformed(place)
        name: Json = written["$type"]
        if not isinstance(name, str) or name.removesuffix(_OPTIONAL) not in TYPES:
            self._unknown_type(str(name), place.at("$type"))
            return Malformed(place)
        optional = written.get("$optional", False)
        if not isinstance(optional, bool):
            errors.error(place.at("$optional"), "must be true or false", "write $optional: true")
        is_optional = name.endswith(_OPTIONAL) or optional is True
        plain = Plain(place, name.removesuffix(_OPTIONAL), optional=is_optional)
        return self._with_choices(plain, written)

    def _with_choices(self, plain: Plain, written: Document) -> Node:
        errors, place, holds = self.findings, plain.place, TYPES[plain.type]
        choices: Json = written.get("$oneOf", [])
        default: Json | UnsetType = written.get("$default", UNSET)
        if not is_list(choices) or ("$oneOf" in written and not choices):
            errors.error(
                place.at("$oneOf"), "must be a list of values that is not empty", "write $oneOf: [...]"
            )
            return Malformed(place)
        wrong = [index for index, choice in enumerate(choices) if not holds(choice)]
        for index in wrong:
            errors.error(
                place.at("$oneOf", index),
                f"is no {plain.type}",
                "write a value of the type, or correct $type",
            )
        if default is UNSET or wrong:
            return Malformed(place) if wrong else Plain(place, plain.type, plain.optional, UNSET, (*choices,))
        problem = f"is no {plain.type}" if not holds(default) else ""
        if choices and not any(is_same(default, choice) for choice in choices):
            problem = problem or "is none of $oneOf"
        if has_sensitive(default):
            problem = "holds a sensitive field: a module is published and holds no values"
        if problem:
            errors.error(place.at("$default"), problem, "write a default that users could set, too")
            return Malformed(place)
        return Plain(place, plain.type, plain.optional, default, (*choices,))


def is_same(value: Json, other: Json) -> bool:
    """Whether two JSON values are equal: true is not 1."""
    return bool(value == other) and isinstance(value, bool) is isinstance(other, bool)


def has_sensitive(value: Json) -> bool:
    """Whether a sensitive field, or what was meant to be one, is anywhere in a value."""
    pending: list[Json] = [value]
    while pending:
        each = pending.pop()
        if is_object(each):
            if is_sensitive(each):
                return True
            pending += each.values()
        elif is_list(each):
            pending += each
    return False
