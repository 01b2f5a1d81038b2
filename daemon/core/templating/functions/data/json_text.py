"""JSON as Go reads and writes it: toJson, toPrettyJson, toRawJson, fromJson."""

import base64
import json
import math
import re
from typing import Final, cast

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.crypto.certificates import Pair
from syncret.daemon.core.templating.functions.data.versions import Version
from syncret.daemon.core.templating.functions.text.layout import normal, runes
from syncret.daemon.core.templating.functions.time.instants import Time
from syncret.daemon.core.templating.functions.time.layouts import format_time
from syncret.daemon.core.templating.functions.time.values import Location
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import TypedList, TypedMap, Value, bytes_of
from syncret.providers.kit.golang import json as gojson

_MOST_LEVELS: Final = 200
_TOKEN_COST: Final = 8
_TOKEN_SIZE: Final = 6
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _UnwritableError(Exception):
    """The value cannot be written as JSON."""


def marshal(context: Context, value: Value, *, escape_html: bool = True, indent: str = "") -> str | None:
    """The value as JSON with sorted keys; None if it cannot be written."""
    writer = _Writer(context, escape_html=escape_html, indent=indent)
    try:
        writer.write(value, 0)
    except _UnwritableError:
        return None
    return "".join(writer.pieces)


class _Writer:
    def __init__(self, context: Context, *, escape_html: bool, indent: str) -> None:
        self.pieces: list[str] = []
        self._context = context
        self._escape_html = escape_html
        self._indent = indent

    def write(self, value: Value, level: int) -> None:
        if level > _MOST_LEVELS:
            raise _UnwritableError
        self._context.budget.step(_TOKEN_COST)
        if isinstance(value, (TypedList, TypedMap)) and value.is_nil:
            self._put("null")
        elif isinstance(value, dict):
            self._write_map(cast("dict[Value, Value]", value), level)
        elif isinstance(value, list):
            members = cast("list[Value]", value)
            self._write_members("[]", [("", member) for member in members], level)
        elif isinstance(value, Location):
            self._put("{}")
        elif isinstance(value, Pair):
            self._write_members("{}", [('"Cert"', value.cert), ('"Key"', value.key)], level)
        else:
            self._put(self._scalar(value))

    def _put(self, text: str) -> None:
        self._context.budget.make(len(text))
        self.pieces.append(text)

    def _write_map(self, entries: dict[Value, Value], level: int) -> None:
        names = cast("list[str]", list(entries))
        members = [(self._quoted(name), entries[name]) for name in sorted(names, key=bytes_of)]
        self._write_members("{}", members, level)

    def _write_members(self, brackets: str, members: list[tuple[str, Value]], level: int) -> None:
        self._put(brackets[0])
        line = "\n" + self._indent * (level + 1) if self._indent else ""
        for place, (name, member) in enumerate(members):
            self._put(("," if place else "") + line)
            if name:
                self._put(name + (": " if self._indent else ":"))
            self.write(member, level + 1)
        if members and self._indent:
            self._put("\n" + self._indent * level)
        self._put(brackets[1])

    def _quoted(self, text: str) -> str:
        return gojson.quote(normal(text), self._context.budget, escape_html=self._escape_html)

    def _scalar(self, value: Value) -> str:
        match value:
            case float() if not math.isfinite(value):
                raise _UnwritableError
            case str():
                return self._quoted(value)
            case bytes():
                return f'"{base64.b64encode(value).decode()}"'
            case Time():
                return f'"{format_time(value, "2006-01-02T15:04:05.999999999Z07:00")}"'
            case Version():
                return self._quoted(value.text())
            case _:
                text = gojson.scalar(value, self._context.budget)
                if text is None:
                    raise _UnwritableError
                return text


def _must(text: str | None) -> str:
    if text is None:
        raise FunctionError("the value has no JSON")
    return text


def to_json(context: Context, value: Value) -> str:
    return marshal(context, value) or ""


def must_to_json(context: Context, value: Value) -> str:
    return _must(marshal(context, value))


def to_pretty_json(context: Context, value: Value) -> str:
    return marshal(context, value, indent="  ") or ""


def must_to_pretty_json(context: Context, value: Value) -> str:
    return _must(marshal(context, value, indent="  "))


def to_raw_json(context: Context, value: Value) -> str:
    return _must(marshal(context, value, escape_html=False))


def unmarshal(context: Context, text: str) -> tuple[Value, bool]:
    """The value of a document, and whether all of it was read: a number out of range becomes nil."""
    context.budget.make(_TOKEN_SIZE * len(text))
    complete = True

    def number(digits: str) -> float | None:
        nonlocal complete
        value = float(digits)
        complete = complete and math.isfinite(value)
        return value if math.isfinite(value) else None

    try:
        value: Value = json.loads(
            runes(text), parse_int=number, parse_float=number, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        return None, False
    return (_with_replacements(value) if "\\u" in text else value), complete


def _refuse_constant(_name: str) -> Value:
    """Python reads NaN and Infinity, which JSON does not have."""
    raise ValueError


def _with_replacements(value: Value) -> Value:
    """The value with lone surrogates, which were escaped, replaced by the replacement character."""
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case list():
            return [_with_replacements(member) for member in cast("list[Value]", value)]
        case dict():
            entries = cast("dict[str, Value]", value)
            return {
                _SURROGATE.sub("\ufffd", key): _with_replacements(member) for key, member in entries.items()
            }
        case _:
            return value


def from_json(context: Context, text: str) -> Value:
    """The value of a JSON text; nil if it is malformed."""
    return unmarshal(context, text)[0]


def must_from_json(context: Context, text: str) -> Value:
    value, complete = unmarshal(context, text)
    if not complete:
        raise FunctionError("invalid JSON")
    return value


FUNCTIONS: Final[FunctionTable] = table(
    {
        "fromJson": from_json,
        "mustFromJson": must_from_json,
        "mustToJson": must_to_json,
        "mustToPrettyJson": must_to_pretty_json,
        "mustToRawJson": to_raw_json,
        "toJson": to_json,
        "toPrettyJson": to_pretty_json,
        "toRawJson": to_raw_json,
    }
)
