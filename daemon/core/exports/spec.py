"""Reads the exports of a resource: `operatorSpec` with its lists of expressions, in both spellings.

`dynamicSecrets` and `dynamicConfigMaps` are the names of Azure Service Operator's design, `secretExpressions`
and `configMapExpressions` those that it ships; they mean the same, and where both stand they add up.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, TypeGuard

from syncret.config.fields import DNS_SUBDOMAIN, Json
from syncret.config.meta import Document, is_list, is_object, member
from syncret.config.paths import join, write
from syncret.config.schema.metadata_rules import is_qualified
from syncret.daemon.core.exports.cel.messages import Text
from syncret.daemon.core.exports.problems import ExportProblem, Failure, ProblemClass, refused

Kind: TypeAlias = Literal["Secret", "ConfigMap"]
Wanted: TypeAlias = Literal["text", "map", "either"]
"""The type that an expression must give; `either`: a map, or a text that then has no key."""

_LISTS: Final[tuple[tuple[str, Kind], ...]] = (
    ("dynamicSecrets", "Secret"),
    ("secretExpressions", "Secret"),
    ("dynamicConfigMaps", "ConfigMap"),
    ("configMapExpressions", "ConfigMap"),
)
_SHIPPED: Final = frozenset({"secretExpressions", "configMapExpressions"})
_STATIC: Final[tuple[tuple[str, Kind], ...]] = (("secrets", "Secret"), ("configMaps", "ConfigMap"))
_LONGEST: Final = 253
_NAME: Final = re.compile(DNS_SUBDOMAIN.removesuffix("$"))
_KEY: Final = re.compile(r"(?!\.\.?\Z)[-._a-zA-Z0-9]{1,253}")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_KEY_HINT: Final = "use letters, digits, '-', '_' and '.', at most 253"
_ENTRY_HINT: Final = "an entry has name, key and value, or name and valueMap"


class Output(NamedTuple):
    """The object that an entry writes to, in the namespace of the resource."""

    kind: Kind
    name: str


class Expression(NamedTuple):
    """One expression, and where it stands."""

    path: str
    text: Text
    wanted: Wanted
    is_shipped: bool = False
    """Whether the entry is one of the shipped spelling, in which `value` may be a map."""


class Entry(NamedTuple):
    """One entry of a list."""

    path: str
    output: Output
    key: str | None
    value: Expression
    annotations: Mapping[str, Expression]
    labels: Mapping[str, Expression]

    @property
    def expressions(self) -> Iterator[Expression]:
        """All expressions of the entry."""
        yield self.value
        yield from self.annotations.values()
        yield from self.labels.values()


class StaticEntry(NamedTuple):
    """One value that the resource's own operator exports by its name."""

    path: str
    output: Output
    key: str
    name: str


class Exports(NamedTuple):
    """All that one resource exports."""

    entries: Sequence[Entry]
    static: Sequence[StaticEntry]
    problems: Sequence[ExportProblem]

    @property
    def expressions(self) -> list[Expression]:
        """All expressions, in the order of their evaluation."""
        return [expression for entry in self.entries for expression in entry.expressions]


def is_key(key: str) -> bool:
    """Whether a Secret or ConfigMap may have this key."""
    return _KEY.fullmatch(key) is not None


def _is_text(value: Json) -> TypeGuard[str]:
    """Whether it is a string that UTF-8 can hold: YAML has others."""
    return isinstance(value, str) and (value.isascii() or not _SURROGATES.search(value))


def read_exports(resource: Document) -> Exports:
    """The exports of a resource, and what is wrong with how they are written."""
    return _Reader().read(member(resource, "spec", "operatorSpec"))


class _Reader:
    """Collects problems while the entries are read."""

    def __init__(self) -> None:
        self.problems: list[ExportProblem] = []

    def read(self, spec: Document) -> Exports:
        entries = [
            entry
            for field, kind in _LISTS
            for path, value in self._list(spec, field)
            if (entry := self._entry(path, value, kind, is_shipped=field in _SHIPPED)) is not None
        ]
        static = [
            read
            for field, kind in _STATIC
            for name, value in member(spec, field).items()
            if (read := self._static(write(["operatorSpec", field, name]), name, value, kind)) is not None
        ]
        return Exports(entries, static, self.problems)

    def _refuse(self, path: str, kind: ProblemClass, message: str, hint: str = "") -> None:
        self.problems.append(refused(path, Failure(kind, message, hint)))

    def _list(self, spec: Document, field: str) -> Iterator[tuple[str, Document]]:
        """The entries of a list that are none of null."""
        entries: Json = spec.get(field)
        if entries is not None and not is_list(entries):
            self._refuse(f"operatorSpec.{field}", "invalid_entry", "must be a list", _ENTRY_HINT)
        for place, entry in enumerate(entries if is_list(entries) else ()):
            path = f"operatorSpec.{field}[{place}]"
            if is_object(entry):
                yield path, entry
            elif entry is not None:
                self._refuse(path, "invalid_entry", "must be a mapping", _ENTRY_HINT)

    def _entry(self, path: str, entry: Document, kind: Kind, *, is_shipped: bool) -> Entry | None:
        before = len(self.problems)
        key, source, mapped = (self._text(path, entry, field) for field in ("key", "value", "valueMap"))
        key = key or None
        output = self._output(path, entry, kind)
        given = sum(entry.get(field) is not None for field in ("value", "valueMap"))
        if given != 1:
            message = (
                "value and valueMap exclude each other" if given else "neither value nor valueMap is set"
            )
            self._refuse(path, "invalid_entry", message, _ENTRY_HINT)
        elif mapped is not None and key is not None:
            message = f"valueMap makes its own keys, and {key} is given"
            self._refuse(
                f"{path}.key", "unexpected_destination_key", message, "remove the key, or write value"
            )
        if key is not None and not is_key(key):
            self._refuse(f"{path}.key", "bad_key", f"no object can have the key {key!r}", _KEY_HINT)
        annotations, labels = (self._marks(path, entry, field, kind) for field in ("annotations", "labels"))
        if len(self.problems) > before or output is None:
            return None
        wanted: Wanted = "map" if source is None else "either" if key is None else "text"
        field, text = ("valueMap", mapped) if source is None else ("value", source)
        expression = Expression(f"{path}.{field}", Text(kind == "Secret", text or ""), wanted, is_shipped)
        return Entry(path, output, key, expression, annotations, labels)

    def _text(self, path: str, entry: Document, field: str) -> str | None:
        value: Json = entry.get(field)
        if value is not None and not _is_text(value):
            self._refuse(f"{path}.{field}", "invalid_entry", "must be a string", "quote it")
            return None
        return value

    def _output(self, path: str, entry: Document, kind: Kind) -> Output | None:
        name = self._text(path, entry, "name")
        if name is None and entry.get("name") is not None:
            return None
        if not name:
            self._refuse(f"{path}.name", "invalid_entry", "the name of the object is missing", _ENTRY_HINT)
        elif len(name) > _LONGEST or not _NAME.fullmatch(name):
            message = f"{name!r} is not the name of an object; it is always in the resource's own namespace"
            self._refuse(
                f"{path}.name", "invalid_entry", message, "use lower case letters, digits, '-' and '.'"
            )
        else:
            return Output(kind, name)
        return None

    def _marks(self, path: str, entry: Document, field: str, kind: Kind) -> dict[str, Expression]:
        """The expressions of annotations or labels, by their keys."""
        value: Json = entry.get(field)
        if value is not None and not is_object(value):
            self._refuse(f"{path}.{field}", "invalid_entry", "must be a mapping", "write key: expression")
        found: dict[str, Expression] = {}
        for name, source in (value if is_object(value) else {}).items():
            where = join(path, write([field, name]))
            if not is_qualified(name.lower() if field == "annotations" else name):
                self._refuse(where, "invalid_entry", f"{name!r} is not a qualified name", "write domain/name")
            elif not _is_text(source):
                self._refuse(
                    where, "invalid_entry", "must be an expression", "a text is one in quotes: \"'text'\""
                )
            else:
                found[name] = Expression(where, Text(kind == "Secret", source), "text")
        return found

    def _static(self, path: str, name: str, value: Json, kind: Kind) -> StaticEntry | None:
        if value is None:
            return None
        if not is_object(value):
            self._refuse(path, "invalid_entry", "must be a mapping", "write name and key")
            return None
        before = len(self.problems)
        output = self._output(path, value, kind)
        key = self._text(path, value, "key")
        if not key:
            self._refuse(f"{path}.key", "invalid_entry", "the key is missing", "write name and key")
        elif not is_key(key):
            self._refuse(f"{path}.key", "bad_key", f"no object can have the key {key!r}", _KEY_HINT)
        if output is None or not key or len(self.problems) > before:
            return None
        return StaticEntry(path, output, key, name)
