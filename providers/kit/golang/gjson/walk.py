"""Evaluates a path on a document, component by component."""

import re
from typing import Final

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang.gjson import modifiers, paths
from syncret.providers.kit.golang.gjson.match import glob, matches
from syncret.providers.kit.golang.gjson.paths import Component, Query
from syncret.providers.kit.golang.gjson.scan import (
    NOTHING,
    VALUE_COST,
    Kind,
    Result,
    breaks_off_in_string,
    content,
    end_at,
    next_element,
    next_member,
    next_value,
    number,
    parse,
    string_end,
    value_at,
)
from syncret.providers.work import Work

MAX_DEPTH: Final = 100
"""How deeply searches may nest."""

_SEARCH_COST: Final = 20
"""Steps for a search, in addition to the length of its path and its document."""

_PATH_COST: Final = 2
"""Steps for a character of a path, which is looked at one by one."""

_SHARE: Final = 5
"""As a shift: the search for an opening bracket passes 32 characters in a step."""

_OPENING: Final = re.compile(r"[{\[]")


class _Found:
    """The result of a pass over a document so far, and the pipe to apply to it."""

    def __init__(self) -> None:
        self.value = NOTHING
        self.pipe: str | None = None


def find(document: str, path: str, work: Work) -> Result:
    """The value at the path, if it exists. Raises Malformed for a path that leads too deep, or OverBudget."""
    return Walk(work).get(document, path)


class Walk:
    """One lookup of a path in a document."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._depth = 0

    def get(self, document: str, path: str) -> Result:
        """The value at the path, if it exists."""
        self._pay_for_path(path)
        if self._depth >= MAX_DEPTH:
            raise _too_deep()
        self._depth += 1
        try:
            return self._get(document, path)
        finally:
            self._depth -= 1

    def _pay_for_path(self, path: str) -> None:
        """Pay before a path, or the rest of one, is parsed and copied."""
        self.work.step(_SEARCH_COST + _PATH_COST * len(path))

    def _get(self, document: str, path: str) -> Result:
        if len(path) > 1 and path[0] in "@!":
            transform = modifiers.apply if path[0] == "@" else modifiers.literal
            applied = transform(document, path, self)
            if applied is not None:
                return (
                    self.get(applied.document, applied.rest[1:])
                    if applied.rest[:1] in {".", "|"}
                    else parse(applied.document, self.work)
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
            self._search(found, document, path)
        return found.value if found.pipe is None else self.get(found.value.raw, found.pipe)

    def _search(self, found: _Found, document: str, path: str) -> None:
        self.work.step(len(document) >> _SHARE)
        opening = _OPENING.search(document)
        if opening is not None:
            search = self._object if opening[0] == "{" else self._array
            search(found, document, opening.end(), path)

    def _multipath(self, document: str, opening: str, selectors: list[paths.Selector]) -> Result:
        parts: list[str] = []
        for name, path in selectors:
            result = self.get(document, path)
            if result.exists:
                raw = result.raw or result.text or "null"
                parts.append(f"{self._name(name, path)}:{raw}" if opening == "{" else raw)
        return Result(Kind.JSON, opening + gojson.joined(parts, self.work) + ("}" if opening == "{" else "]"))

    def _object(self, found: _Found, text: str, start: int, path: str) -> tuple[int, bool]:
        """Look for a member; returns the end of the object, and whether the search is done."""
        self._pay_for_path(path)
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
            self.work.step(VALUE_COST + (end - place >> _SHARE))
            fits = closed and self._fits(component, content(text[place:end], self.work))
            place = next_value(text, end)
            if not closed or place < 0:
                return len(text), False
            place, taken = self._take(
                found, component, text, place, enters=fits, reads=fits and not component.more
            )
            if isinstance(taken, bool):
                return place, taken
            if taken is not None:
                found.value = taken
                return place, True

    def _fits(self, component: Component, key: str) -> bool:
        return glob(key, component.part, self.work) if component.has_wildcards else key == component.part

    def _take(
        self, found: _Found, component: Component, text: str, start: int, *, enters: bool, reads: bool
    ) -> tuple[int, Result | bool | None]:
        """Search one value, read it, or pass over it; says where it ended.

        Gives the value that was read; None if there is none; True if the search found what is wanted, and
        False if the text breaks off: then the search is over.
        """
        if enters and component.more and text[start] in "{[":
            place, done = self._descend(found, text, start, component.rest)
            return place, done or None
        if reads:
            value, place, closed = value_at(text, start, self.work)
            return place, value if closed else False
        place, closed = end_at(text, start, self.work)
        return place, None if closed else False

    def _descend(self, found: _Found, text: str, start: int, path: str) -> tuple[int, bool]:
        if self._depth >= MAX_DEPTH:
            raise _too_deep()
        self._depth += 1
        try:
            search = self._object if text[start] == "{" else self._array
            return search(found, text, start + 1, path)
        finally:
            self._depth -= 1

    def _array(self, found: _Found, text: str, start: int, path: str) -> tuple[int, bool]:
        """Look for elements; returns the end of the array, and whether the search is done."""
        self._pay_for_path(path)
        component = paths.array_component(path, modifiers.NAMES, self.work)
        if component.pipe is not None:
            found.pipe = component.pipe
        index = -1 if component.hashed else _index(component.part)
        reads_all = component.query is not None or component.each
        elements: list[Result] = []
        place, count = start, 0
        while True:
            place = next_element(text, place)
            if place < 0 or text[place] == "]":
                end = len(text) if place < 0 else place + 1
                return end, self._close(found, component, count, elements)
            begin, wanted = place, count == index
            count += 1
            place, taken = self._take(
                found,
                component,
                text,
                place,
                enters=wanted,
                reads=reads_all or (wanted and not component.more),
            )
            if isinstance(taken, bool):
                return place, taken
            if taken is not None and self._element(found, component, taken, elements):
                return place, True
            if place == len(text) and breaks_off_in_string(text[begin:place], self.work):
                return place, False

    def _element(self, found: _Found, component: Component, value: Result, elements: list[Result]) -> bool:
        """Match one element, and collect it if all are wanted; returns whether the search is done."""
        if component.query is not None:
            return self._match_element(found, component, component.query, value, elements)
        if component.each:
            elements.append(value)
            return False
        found.value = value
        return True

    def _match_element(
        self, found: _Found, component: Component, query: Query, value: Result, elements: list[Result]
    ) -> bool:
        if value.kind is Kind.JSON:
            tested = self.get(value.raw, query.path)
        elif query.path:
            return False
        else:
            tested = value
        if not matches(query, tested, self.work):
            return False
        if component.more:
            value = self.get(value.raw, self._piped(found, component))
        if not query.all:
            found.value = value
            return True
        elements.append(value)
        return False

    def _piped(self, found: _Found, component: Component) -> str:
        """The rest of the path up to its pipe, which is for what all elements give."""
        self._pay_for_path(component.rest)
        rest, pipe = paths.split_pipe(component.rest, self.work)
        if pipe is not None:
            found.pipe = pipe
        return rest

    def _close(self, found: _Found, component: Component, count: int, elements: list[Result]) -> bool:
        """Compute the result of an array at its end; returns whether the search is done."""
        if component.part == "#" and component.each:
            rest = self._piped(found, component)
            results = [self.get(element.raw, rest) for element in elements]
            found.value = self._array_of([result for result in results if result.exists])
            return True
        if component.part == "#":
            found.value = number(str(count))
            return True
        if component.query is not None and component.query.all and not found.value.exists:
            found.value = self._array_of(elements)
        return False

    def _array_of(self, results: list[Result]) -> Result:
        raws = [result.raw or result.text for result in results]
        return Result(Kind.JSON, "[" + gojson.joined([raw for raw in raws if raw], self.work) + "]")

    def _name(self, name: str, path: str) -> str:
        if not name:
            return gojson.quote(paths.last_name(path), self.work)
        is_quoted = name.startswith('"') and gojson.is_valid(name, self.work)
        return name if is_quoted else gojson.quote(name, self.work)


def _index(part: str) -> int:
    """A number of 64 bits, as in gjson: of a longer one only the last 64 digits count."""
    return int(part[-64:]) % (1 << 64) if part.isascii() and part.isdigit() else -1


def _too_deep() -> Malformed:
    return Malformed("the property leads too deep", hint="use a shorter path")
