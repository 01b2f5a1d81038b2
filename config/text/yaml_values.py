"""Builds the JSON value of one YAML document from libyaml's events, as Kubernetes' own reader or yaml.v3.

No tree of nodes is made: that of 3 MB would take 100 MB. Merge keys merge. Repeated keys, aliases that expand
too far, endless nesting and too many values are reported.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, cast

from yaml._yaml import CParser
from yaml.composer import ComposerError
from yaml.error import Mark
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.config.paths import Path, render
from syncret.config.text.yaml_scalars import AMBIGUOUS_STARTS, KUBERNETES, Fault, Reading, is_plain, line_of

_LONG: Final = 64
_MERGE: Final = "<<"
_UNUSUAL_STARTS: Final = AMBIGUOUS_STARTS | {"<"}
"""First characters of plain keys that may be no string, or the merge key."""
_NO_ALIAS: Final = "write the value out"


class Duplicate(NamedTuple):
    """A key that appears twice; the last value counts."""

    path: str
    line: int


class Limits(NamedTuple):
    """Bounds: documents as large as an API server accepts; `aliased` bounds what YAML aliases repeat."""

    file: int = 32 * 1024 * 1024
    document: int = 3 * 1024 * 1024
    values: int = 250_000
    aliased: int = 100_000
    depth: int = 100


class Built(NamedTuple):
    """The value of a document, the line where it begins, from 0, and the keys that appear twice."""

    value: Json
    line: int
    duplicates: list[Duplicate]


def build(text: str, limits: Limits, reading: Reading = KUBERNETES) -> Built:
    """The value of the one document of a text; None for an empty one. Raises Fault or yaml.YAMLError."""
    parser = CParser(text)
    builder = _Builder(parser, limits, reading)
    value, line = None, 0
    event = parser.get_event()
    while not isinstance(event := parser.get_event(), StreamEndEvent):
        if isinstance(event, NodeEvent):
            value, line = builder.value(event, None, 0), line_of(event)
        elif isinstance(event, DocumentEndEvent):
            _expect_end(parser)
            break
    return Built(value, line, builder.duplicates)


def _expect_end(parser: CParser) -> None:
    event = parser.get_event()
    if isinstance(event, DocumentStartEvent):
        context, place = "expected a single document in the stream", cast("Mark", event.start_mark)
        raise ComposerError(context, None, "but found another document", place)


class _Open:
    """Stands for the value of an anchor as long as that is not complete."""


class _Builder:
    """Takes the events of a document one after another. Recursive: at most as deep as the limit says."""

    def __init__(self, parser: CParser, limits: Limits, reading: Reading) -> None:
        self.duplicates: list[Duplicate] = []
        self._next = cast("Callable[[], Event]", parser.get_event)  # libyaml raises what is no event
        self._limits = limits
        self._reading = reading
        self._left = limits.values
        self._aliased = limits.aliased
        self._anchors: dict[str, Json | ScalarEvent | _Open] = {}

    def value(self, event: Event, path: Path, depth: int) -> Json:
        """The value that begins with this event; `depth` collections are open around it."""
        if isinstance(event, ScalarEvent):
            if event.anchor is not None:
                self._anchors[event.anchor] = event
            return self._reading.value(event)
        if isinstance(event, AliasEvent):
            return self._repeated(event)
        line = line_of(event)
        if depth >= self._limits.depth:
            raise Fault(f"is nested deeper than {self._limits.depth} levels", line, "write it flatter")
        anchor = cast("NodeEvent", event).anchor
        if anchor is not None:
            self._anchors[anchor] = _Open()
        mapping = isinstance(event, MappingStartEvent)
        result = self._mapping(path, depth + 1) if mapping else self._sequence(path, depth + 1)
        if anchor is not None:
            self._anchors[anchor] = result
        return result

    def _sequence(self, path: Path, depth: int) -> list[Json]:
        result: list[Json] = []
        while not isinstance(event := self._next(), SequenceEndEvent):
            self._count(1, event)
            result.append(self.value(event, (path, len(result)), depth))
        return result

    def _mapping(self, path: Path, depth: int) -> Document:
        result: Document = {}
        own: set[str] = set()
        while not isinstance(event := self._next(), MappingEndEvent):
            self._count(2, event)
            key_event = self._key(event)
            key = key_event.value
            is_merge = False
            if not key_event.implicit[0] or key_event.tag is not None or key[:1] in _UNUSUAL_STARTS:
                is_merge = key == _MERGE and is_plain(key_event)
                key = self._reading.key(key_event)
            if not is_merge or self._reading.merges_last:
                if key in own:
                    self.duplicates.append(Duplicate(render((path, key)), line_of(event)))
                own.add(key)
            if is_merge:
                self._merge(result, path, depth)
                continue
            event = self._next()
            if not isinstance(event, ScalarEvent) or event.anchor is not None:
                result[key] = self.value(event, (path, key), depth)
            elif event.implicit[0] and event.tag is None and event.value[:1] not in AMBIGUOUS_STARTS:
                result[key] = event.value
            else:
                result[key] = self._reading.value(event)
        return result

    def _key(self, event: Event) -> ScalarEvent:
        named: Json | ScalarEvent | _Open = event
        if isinstance(event, AliasEvent):
            named = self._anchored(event)
        elif isinstance(event, ScalarEvent) and event.anchor is not None:
            self._anchors[event.anchor] = event
        if not isinstance(named, ScalarEvent):
            raise Fault("a key must be a string, not a mapping or a list", line_of(event))
        return named

    def _merge(self, into: Document, path: Path, depth: int) -> None:
        """Of its sources the first wins. Later entries win over it, or else own ones wherever they stand."""
        event = self._next()
        value = self.value(event, path, depth)
        own = dict(into) if self._reading.merges_last else {}
        for source in reversed(value if is_list(value) else [value]):
            if not is_object(source):
                raise Fault("a merge key takes a mapping, or a list of mappings", line_of(event))
            into |= source
        into |= own

    def _anchored(self, alias: AliasEvent) -> Json | ScalarEvent:
        """What an alias stands for: the event of a scalar, or the value of a collection."""
        if alias.anchor not in self._anchors:
            raise ComposerError(None, None, "found undefined alias", cast("Mark", alias.start_mark))
        named = self._anchors[alias.anchor]
        if isinstance(named, _Open):
            raise Fault("an alias refers to a value that contains it", line_of(alias), _NO_ALIAS)
        return named

    def _repeated(self, alias: AliasEvent) -> Json:
        named = self._anchored(alias)
        value = self._reading.value(named) if isinstance(named, ScalarEvent) else named
        return self._copied(value, line_of(alias))

    def _copied(self, value: Json, line: int) -> Json:
        """A copy of a value, which is counted: a few lines of text must not become millions of values."""
        if is_object(value):
            self._pay(len(value) + 1, line)
            return {key: self._copied(each, line) for key, each in value.items()}
        if is_list(value):
            self._pay(len(value) + 1, line)
            return [self._copied(each, line) for each in value]
        if isinstance(value, str) and len(value) > _LONG:
            self._pay(len(value) // _LONG, line)
        return value

    def _pay(self, weight: int, line: int) -> None:
        self._aliased -= weight
        if self._aliased < 0:
            raise Fault("aliases repeat too many values", line, "write them out")

    def _count(self, values: int, event: Event) -> None:
        self._left -= values
        if self._left < 0:
            message = f"has too many values: more than {self._limits.values}"
            raise Fault(message, line_of(event), "split it into several documents")
