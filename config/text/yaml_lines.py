"""Finds the lines of fields in the text of a document.

One pass over its events finds many. No tree is built, and nothing is kept: that of 2 MB would take 90 MB.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import cast

import yaml
from yaml._yaml import CParser
from yaml.error import Mark
from yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from syncret.config.paths import parse
from syncret.config.text.yaml_scalars import Fault, key_text


class Lines:
    """Finds the lines of fields in the text of a document, or of a part of it that begins on `line`."""

    def __init__(
        self, text: str, line: int, *, start: int = 0, end: int | None = None, indent: int = 0
    ) -> None:
        """`start` and `end` cut the part out of the text; `indent` is the column on which it begins."""
        self.line = line
        self._text = text
        self._start = start
        self._end = end
        self._indent = indent

    def of(self, path: str, text_line: int = 0) -> int:
        """The line, counted from 1, of the field at a path, or of its nearest ancestor that is written there.

        `text_line` is a line within the text of the field. It counts in a literal block (`|`), whose lines
        are lines of the file; in any other text it is ignored.
        """
        return self.of_all([(path, text_line)])[0]

    def of_all(self, places: Sequence[tuple[str, int]]) -> Sequence[int]:
        """The lines of many fields at once, each with the line within its text."""
        document = _Field()
        parsed = [(parse(path), text_line) for path, text_line in places]
        for steps, _ in parsed:
            document.look_for(steps)
        with suppress(yaml.YAMLError):
            _Search(self._part()).find(document)
        return [self.line + document.found(steps, text_line) for steps, text_line in parsed]

    def of_items(self, name: str) -> Iterator["Lines"]:
        """The lines of each item of a list of the document, one by one; of no item the lines are unknown."""
        with suppress(yaml.YAMLError):
            for start, end in _Search(self._part()).items(name):
                is_block = isinstance(start, CollectionStartEvent) and not start.flow_style
                first = _begin(start)
                yield Lines(
                    self._text,
                    self.line + first.line,
                    start=first.index,
                    end=_end(end).index,
                    indent=first.column if is_block else 0,
                )
        while True:
            yield Lines("", self.line)

    @property
    def size(self) -> int:
        """The characters of the document, or of the part."""
        return (len(self._text) if self._end is None else self._end) - self._start

    def _part(self) -> str:
        if self._end is None:
            return self._text
        return " " * self._indent + self._text[self._start : self._end]


class _Field:
    """A field that is looked for, or that has such fields: its line from 0, once it is found."""

    __slots__ = ("below", "line", "scalar")

    def __init__(self) -> None:
        self.below: dict[str | int, _Field] = {}
        self.line: int | None = None
        self.scalar: ScalarEvent | None = None

    def look_for(self, steps: Sequence[str | int]) -> None:
        """Look for the field at a path below this one, and for those that lead to it."""
        field = self
        for step in steps:
            field = field.below.setdefault(step, _Field())

    def found(self, steps: Sequence[str | int], text_line: int) -> int:
        """The line of the field at a path, or one in its text; that of its parent if it is not there."""
        field = self
        for step in steps:
            below = field.below[step]
            if below.line is None:
                return field.line or 0
            field = below
        if text_line and field.scalar is not None:
            first, last = _begin(field.scalar).line, _end(field.scalar).line
            if field.scalar.style == "|":
                return first + text_line
            if first == last:
                return first
        return field.line or 0


class _Search:
    """One pass over the events of a text. Raises yaml.YAMLError where the text is no YAML."""

    def __init__(self, text: str) -> None:
        self._parser = CParser(text)

    def find(self, document: _Field) -> None:
        """Note the line of each field that is there; the first counts if a key appears twice."""
        event = self._root()
        if event is not None:
            document.line = _begin(event).line
            self._enter(document, event)

    def items(self, name: str) -> Iterator[tuple[Event, Event]]:
        """The first and the last event of each item of the list of this name."""
        root = self._root()
        if not isinstance(root, MappingStartEvent):
            return
        for key in self._until(MappingEndEvent):
            found = self._name(key) == name
            event = self._next()
            if found and isinstance(event, SequenceStartEvent):
                for item in self._until(SequenceEndEvent):
                    yield item, self._skip(item)
                return
            self._skip(event)

    def _root(self) -> Event | None:
        """The first event of the document's value."""
        while (event := self._parser.get_event()) is not None:
            if isinstance(event, NodeEvent):
                return event
        return None

    def _enter(self, field: _Field, event: Event) -> None:
        """Look for what is below a field whose value begins with this event. Recursive: as deep as a path."""
        if isinstance(event, ScalarEvent):
            field.scalar = event
        elif not field.below:
            self._skip(event)
        elif isinstance(event, MappingStartEvent):
            for key in self._until(MappingEndEvent):
                self._take(field.below.get(self._name(key)), key, self._next())
        elif isinstance(event, SequenceStartEvent):
            for place, item in enumerate(self._until(SequenceEndEvent)):
                self._take(field.below.get(place), item, item)

    def _take(self, field: _Field | None, first: Event, value: Event) -> None:
        """Take a field by its first event and that of its value; None: the field is not wanted."""
        if field is None or field.line is not None:
            self._skip(value)
        else:
            field.line = _begin(first).line
            self._enter(field, value)

    def _until(self, end: type[Event]) -> Iterator[Event]:
        """The first event of each key or item of a collection; the caller reads the rest of each."""
        while not isinstance(event := self._next(), end):
            yield event

    def _name(self, key: Event) -> str:
        """The name of the field of a key; empty for what is no name."""
        if not isinstance(key, ScalarEvent):
            self._skip(key)
            return ""
        try:
            return key_text(key)
        except Fault:
            return ""

    def _skip(self, event: Event) -> Event:
        """Pass over the value that begins with this event; its last event."""
        depth = 0
        while True:
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if not depth:
                return event
            event = self._next()

    def _next(self) -> Event:
        return cast("Event", self._parser.get_event())  # libyaml raises what is no event


def _begin(event: Event) -> Mark:
    return cast("Mark", event.start_mark)  # libyaml's events have marks


def _end(event: Event) -> Mark:
    return cast("Mark", event.end_mark)
