"""Evaluates a path on a document, component by component."""

from typing import Final

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang.gjson import modifiers, paths
from syncret.providers.kit.golang.gjson.match import glob, matches
from syncret.providers.kit.golang.gjson.paths import Component, Query
from syncret.providers.kit.golang.gjson.scan import (
    NOTHING,
    Kind,
    Result,
    breaks_off_in_string,
    next_element,
    next_member,
    next_value,
    number,
    parse,
    string,
    string_end,
    value_at,
)

MAX_DEPTH: Final = 100
"""How deeply searches may nest."""

MAX_WORK: Final = 2_000_000
MAX_PASSES: Final = 10
"""How often one path may scan the whole document, beyond a fixed number of characters.

A path can double the document at every step; this bound ends it after a fraction of a second.
"""

_SEARCH_COST: Final = 50
"""The fixed cost of a search, in addition to the length of its document."""


class _Found:
    """The result of a pass over a document so far, and the pipe to apply to it."""

    def __init__(self) -> None:
        self.value = NOTHING
        self.pipe: str | None = None


def find(document: str, path: str) -> Result:
    """The value at the path, if it exists. Raises Malformed for a path that takes too much work."""
    return Walk(len(document)).get(document, path)


class Walk:
    """One lookup of a path in a document, with a bound on the work."""

    def __init__(self, size: int) -> None:
        self._work_left = MAX_WORK + MAX_PASSES * size
        self._depth = 0

    def get(self, document: str, path: str) -> Result:
        """As `find`, within the remaining work."""
        self._work_left -= len(document) + _SEARCH_COST
        if self._work_left < 0 or self._depth >= MAX_DEPTH:
            raise Malformed("the property asks for too much work", hint="use a shorter path")
        self._depth += 1
        try:
            return self._get(document, path)
        finally:
            self._depth -= 1

    def _get(self, document: str, path: str) -> Result:
        if len(path) > 1 and path[0] in "@!":
            applied = modifiers.apply(document, path, self.get) if path[0] == "@" else modifiers.literal(path)
            if applied is not None:
                self._work_left -= len(applied.document)
                return (
                    self.get(applied.document, applied.rest[1:])
                    if applied.rest[:1] in {".", "|"}
                    else parse(applied.document)
                )
        opening = path[:1]
        if len(path) > 1 and opening in "[{":
            chosen, path = paths.selectors(path)
            if chosen is not None and path[:1] in {"", ".", "|"}:
                made_of = self._multipath(document, opening, chosen)
                return self.get(made_of.raw, path[1:]) if path else made_of
        found = _Found()
        if path.startswith(".."):
            self._array(found, document, 0, path[2:])
        else:
            start = min(
                (place for place in (document.find("{"), document.find("[")) if place >= 0), default=-1
            )
            if start >= 0:
                search = self._object if document[start] == "{" else self._array
                search(found, document, start + 1, path)
        return found.value if found.pipe is None else self.get(found.value.raw, found.pipe)

    def _multipath(self, document: str, opening: str, selectors: list[paths.Selector]) -> Result:
        parts: list[str] = []
        for name, path in selectors:
            result = self.get(document, path)
            if result.exists:
                raw = result.raw or result.text or "null"
                parts.append(f"{_name(name, path)}:{raw}" if opening == "{" else raw)
        return Result(Kind.JSON, opening + ",".join(parts) + ("}" if opening == "{" else "]"))

    def _object(self, found: _Found, text: str, start: int, path: str) -> tuple[int, bool]:
        """Look for a member; returns the end of the object, and whether the search is done."""
        component = paths.object_component(path, modifiers.NAMES)
        if component.pipe is not None:
            found.pipe = component.pipe
        place = start
        while True:
            place = next_member(text, place)
            if place < 0:
                return len(text), False
            if text[place] == "}":
                return place + 1, False
            end, closed = string_end(text, place)
            fits = closed and _fits(component, string(text[place:end]).string)
            place = next_value(text, end)
            if not closed or place < 0:
                return len(text), False
            place, taken = self._take(found, component, text, place, enters=fits)
            if isinstance(taken, bool):
                return place, taken
            if taken is not None and fits and not component.more:
                found.value = taken
                return place, True

    def _take(
        self, found: _Found, component: Component, text: str, start: int, *, enters: bool
    ) -> tuple[int, Result | bool | None]:
        """Search one value, or read it; says where it ended.

        Gives the value that was read; None if it was searched in vain; True if that found what is wanted,
        and False if the text breaks off: then the search is over.
        """
        if enters and component.more and text[start] in "{[":
            place, done = self._descend(found, text, start, component.rest)
            return place, done or None
        value, place, closed = value_at(text, start)
        return place, value if closed else False

    def _descend(self, found: _Found, text: str, start: int, path: str) -> tuple[int, bool]:
        if self._depth >= MAX_DEPTH:
            raise Malformed("the property leads too deep", hint="use a shorter path")
        self._depth += 1
        try:
            search = self._object if text[start] == "{" else self._array
            return search(found, text, start + 1, path)
        finally:
            self._depth -= 1

    def _array(self, found: _Found, text: str, start: int, path: str) -> tuple[int, bool]:
        """Look for elements; returns the end of the array, and whether the search is done."""
        component = paths.array_component(path, modifiers.NAMES)
        if component.pipe is not None:
            found.pipe = component.pipe
        index = -1 if component.hashed else _index(component.part)
        elements: list[Result] = []
        place, count = start, 0
        while True:
            place = next_element(text, place)
            if place < 0 or text[place] == "]":
                end = len(text) if place < 0 else place + 1
                return end, self._close(found, component, count, elements)
            wanted = count == index
            count += 1
            place, taken = self._take(found, component, text, place, enters=wanted)
            if isinstance(taken, bool):
                return place, taken
            if taken is None:
                continue
            if self._element(found, component, taken, elements, wanted=wanted):
                return place, True
            if place == len(text) and breaks_off_in_string(taken):
                return place, False

    def _element(
        self, found: _Found, component: Component, value: Result, elements: list[Result], *, wanted: bool
    ) -> bool:
        """Match one element, and collect it if all are wanted; returns whether the search is done."""
        if component.query is not None:
            return self._match_element(found, component, component.query, value, elements)
        if component.each:
            elements.append(value)
        elif wanted and not component.more:
            found.value = value
            return True
        return False

    def _match_element(
        self, found: _Found, component: Component, query: Query, value: Result, elements: list[Result]
    ) -> bool:
        if value.kind is Kind.JSON:
            tested = self.get(value.raw, query.path)
        elif query.path:
            return False
        else:
            tested = value
        if not matches(query, tested):
            return False
        if component.more:
            rest, pipe = paths.split_pipe(component.rest)
            if pipe is not None:
                found.pipe = pipe
            value = self.get(value.raw, rest)
        if not query.all:
            found.value = value
            return True
        elements.append(value)
        return False

    def _close(self, found: _Found, component: Component, count: int, elements: list[Result]) -> bool:
        """Compute the result of an array at its end; returns whether the search is done."""
        if component.part == "#" and component.each:
            rest, pipe = paths.split_pipe(component.rest)
            if pipe is not None:
                found.pipe = pipe
            results = (self.get(element.raw, rest) for element in elements)
            found.value = _array_of([result for result in results if result.exists])
            return True
        if component.part == "#":
            found.value = number(str(count))
            return True
        if component.query is not None and component.query.all and not found.value.exists:
            found.value = _array_of(elements)
        return False


def _fits(component: Component, key: str) -> bool:
    return glob(key, component.part) if component.has_wildcards else key == component.part


def _index(part: str) -> int:
    """A number of 64 bits, as in gjson: of a longer one only the last 64 digits count."""
    return int(part[-64:]) % (1 << 64) if part.isascii() and part.isdigit() else -1


def _array_of(results: list[Result]) -> Result:
    raws = (result.raw or result.text for result in results)
    return Result(Kind.JSON, "[" + ",".join(raw for raw in raws if raw) + "]")


def _name(name: str, path: str) -> str:
    if not name:
        return gojson.quote(paths.last_name(path))
    return name if name.startswith('"') and modifiers.is_valid(name) else gojson.quote(name)
