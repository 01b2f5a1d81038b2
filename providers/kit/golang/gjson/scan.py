"""Finds values in JSON text. Nothing is validated: each value ends where gjson ends it.

The reader of a value pays for finding its end and for the text that is taken out of the document.
"""

import re
from collections import deque
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work

_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("|\\?\Z)', re.DOTALL)
_STRUCTURE: Final = re.compile(r"[{}\[\]()]|" + _STRING.pattern, re.DOTALL)
_NUMBER: Final = re.compile(r"[^\x00-\x20,\]}]*")
_LITERAL: Final = re.compile(r"[a-z]*")
_VALUE: Final = re.compile(r'["{\[tfn+\-0-9iIN]')
_ELEMENT: Final = re.compile(r'["{\[tfn+\-0-9iIN\]]')
_MEMBER: Final = re.compile(r'["}]')
_SOLID: Final = re.compile(r"[^\x00-\x20]")

_GO_FLOAT: Final = re.compile(
    r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?|[+-]?inf(?:inity)?|nan", re.IGNORECASE
)
_DIGITS: Final = re.compile(r"-?[0-9]*")

_STOP: Final = re.compile(r"[\x00-\x1f\\]")
_SHORT: Final = {"\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"'}
_HEX: Final = re.compile("[0-9a-fA-F]{4}")
_CODE: Final = 4
_REPLACEMENT: Final = "\ufffd"
_SURROGATES: Final = range(0xD800, 0xE000)
_LOW: Final = range(0xDC00, 0xE000)

VALUE_COST: Final = 5
"""Steps for one member or element, beside the length of its text."""

_VALUE_SIZE: Final = 100
_TOKENS_AT_ONCE: Final = 1024
_ESCAPE_COST: Final = 3
_SHARE: Final = 5
"""As a shift: a regular expression passes 32 characters in a step."""


class Kind(Enum):
    """The type of a value; JSON is an object or an array."""

    NULL = "null"
    FALSE = "false"
    NUMBER = "number"
    STRING = "string"
    TRUE = "true"
    JSON = "json"


class Result(NamedTuple):
    """One value: its text in the document, and its type and meaning."""

    kind: Kind = Kind.NULL
    raw: str = ""
    string: str = ""
    number: float = 0.0

    @property
    def exists(self) -> bool:
        return self.kind is not Kind.NULL or self.raw != ""

    @property
    def is_array(self) -> bool:
        return self.kind is Kind.JSON and self.raw.startswith("[")

    @property
    def is_object(self) -> bool:
        return self.kind is Kind.JSON and self.raw.startswith("{")

    @property
    def text(self) -> str:
        """The value as text of a secret: strings unquoted, whole numbers as written, null empty."""
        match self.kind:
            case Kind.STRING:
                return self.string
            case Kind.JSON:
                return self.raw
            case Kind.TRUE:
                return "true"
            case Kind.FALSE:
                return "false"
            case Kind.NUMBER:
                return self.raw if _DIGITS.fullmatch(self.raw) else _plain(self.number)
            case Kind.NULL:
                return ""


NOTHING: Final = Result()


def value_at(text: str, start: int, work: Work) -> tuple[Result, int, bool]:
    """The value that starts here, its end, and whether it is closed (a string may not be)."""
    end, closed = end_at(text, start, work)
    work.make(end - start + _VALUE_SIZE)
    raw = text[start:end]
    match raw[0]:
        case '"':
            return string(raw, work, closed=closed), end, closed
        case "{" | "[":
            return Result(Kind.JSON, raw), end, True
        case "t" | "f" | "n" as first if first != "n" or text[start + 1 : start + 2] in {"u", ""}:
            kind = {"t": Kind.TRUE, "f": Kind.FALSE, "n": Kind.NULL}[first]
            return Result(kind, raw), end, True
        case _:
            return number(raw), end, True


def end_at(text: str, start: int, work: Work) -> tuple[int, bool]:
    """The end of the value that starts here, and whether it is closed: to pass over it."""
    match text[start]:
        case '"':
            end, closed = string_end(text, start)
            work.step(VALUE_COST + (end - start >> _SHARE))
            return end, closed
        case "{" | "[":
            work.step(VALUE_COST)
            return squash_end(text, start, work), True
        case "t" | "f" | "n" as first if first != "n" or text[start + 1 : start + 2] in {"u", ""}:
            end = _end(_LITERAL, text, start + 1)
        case _:
            end = _end(_NUMBER, text, start + 1)
    work.step(VALUE_COST + (end - start >> _SHARE))
    return end, True


def next_value(text: str, start: int) -> int:
    """The offset of the next value, skipping anything else; -1 if there is none."""
    return _find(_VALUE, text, start)


def next_element(text: str, start: int) -> int:
    """As `next_value`, but also stops at a closing bracket."""
    return _find(_ELEMENT, text, start)


def next_member(text: str, start: int) -> int:
    """The offset of the next key or the closing brace of an object; -1 if there is neither."""
    return _find(_MEMBER, text, start)


def string_end(text: str, start: int) -> tuple[int, bool]:
    """The end of the string that starts here, and whether it is closed."""
    found = _STRING.match(text, start)
    return (found.end(), found[1] == '"') if found else (len(text), False)


def squash_end(text: str, start: int, work: Work) -> int:
    """The end of the bracketed value that starts here; all kinds of brackets count alike."""
    depth = tokens = 0
    end = len(text)
    for found in _STRUCTURE.finditer(text, start):
        first = found[0][0]
        if first in "{[(":
            depth += 1
        elif first in "}])":
            depth -= 1
            if depth == 0:
                end = found.end()
                break
        tokens += 1
        if tokens == _TOKENS_AT_ONCE:
            work.step(tokens)
            tokens = 0
    work.step(tokens + (end - start >> _SHARE))
    return end


def breaks_off_in_string(raw: str, work: Work) -> bool:
    """Whether an object or array's text ends within a string: gjson then overruns the end."""
    if raw[0] not in "{[":
        return False
    work.step(len(raw))
    last = deque(_STRUCTURE.finditer(raw), maxlen=1)
    return any(found[0][0] == '"' and not string_end(raw, found.start())[1] for found in last)


def string(raw: str, work: Work, *, closed: bool = True) -> Result:
    """A string by its quoted text."""
    return Result(Kind.STRING, raw, content(raw, work, closed=closed))


def content(raw: str, work: Work, *, closed: bool = True) -> str:
    """What a quoted text says."""
    inner = raw[1:-1] if closed else raw[1:]
    return unescape(inner, work) if "\\" in inner else inner


def number(raw: str) -> Result:
    """A number by its text; zero if it is none."""
    return Result(Kind.NUMBER, raw, number=go_float(raw))


def go_float(text: str) -> float:
    """The number as Go's ParseFloat parses it; zero if that fails."""
    return float(text) if _GO_FLOAT.fullmatch(text) else 0.0


def parse(text: str, work: Work) -> Result:
    """The first value of a text; an object or array extends to the end of the text."""
    start = _find(_SOLID, text, 0)
    if start < 0:
        return NOTHING
    if text[start] in "{[":
        if start:  # otherwise nothing is copied
            work.make(len(text))
        return Result(Kind.JSON, text[start:])
    if not _VALUE.match(text, start):
        return NOTHING
    return value_at(text, start, work)[0]


def items(result: Result, work: Work) -> Iterator[tuple[str, Result]]:
    """Members of an object with their quoted keys; elements of an array or the value itself without."""
    if not result.exists:
        return
    if result.kind is not Kind.JSON:
        yield "", result
        return
    text, place = result.raw, 1
    while True:
        key = ""
        if text[0] == "{":
            start = text.find('"', place)
            if start < 0:
                return
            place, closed = string_end(text, start)
            work.make(place - start)
            key = text[start:place]
            if not closed:
                return
        start = next_value(text, place)
        if start < 0:
            return
        value, end, closed = value_at(text, start, work)
        if not closed:
            return
        yield key, value
        place = end + 1  # skips the comma


def unescape(inner: str, work: Work) -> str:
    """The content of a string, unescaped, up to the first invalid escape."""
    work.make(len(inner))
    pieces: list[str] = []
    place = 0
    while (found := _STOP.search(inner, place)) is not None:
        work.step(_ESCAPE_COST)
        pieces.append(inner[place : found.start()])
        sort = inner[found.end() : found.end() + 1]
        place = found.end() + 1
        if found[0] != "\\" or not sort or (sort != "u" and sort not in _SHORT):
            return "".join(pieces)
        if sort != "u":
            pieces.append(_SHORT[sort])
        elif place + _CODE > len(inner):
            return "".join(pieces)
        else:
            char, place = _character(inner, place)
            pieces.append(char)
    return "".join([*pieces, inner[place:]])


def _character(inner: str, place: int) -> tuple[str, int]:
    code, place = _code(inner, place)
    if code not in _SURROGATES:
        return chr(code), place
    if inner[place : place + 2] != "\\u" or place + 2 + _CODE > len(inner):
        return _REPLACEMENT, place
    low, place = _code(inner, place + 2)
    if code in _LOW or low not in _LOW:
        return _REPLACEMENT, place
    return chr(0x10000 + ((code - _SURROGATES.start) << 10) + (low - _LOW.start)), place


def _code(inner: str, place: int) -> tuple[int, int]:
    found = _HEX.match(inner, place)
    return int(found[0], 16) if found else 0, place + _CODE


def _plain(value: float) -> str:
    if value != value:  # noqa: PLR0124 - NaN
        return "NaN"
    if value in {float("inf"), float("-inf")}:
        return "+Inf" if value > 0 else "-Inf"
    return gojson.plain_float(value)


def _end(pattern: "re.Pattern[str]", text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


def _find(pattern: "re.Pattern[str]", text: str, start: int) -> int:
    found = pattern.search(text, start)
    return found.start() if found else -1
