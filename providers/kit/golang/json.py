"""JSON as Go's `encoding/json` reads and writes it, where Python's module differs.

What is stored in a secret manager, hashed or compared must be byte for byte what the operator writes: keys
sorted, numbers in Go's notation, HTML escaped or not, unchanged values as they were in the text.
Errors never quote the text.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Final, cast

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.work import Work

_ESCAPED: Final = re.compile('["\\\\\x00-\x1f\u2028\u2029\ud800-\udfff]')
_ESCAPED_HTML: Final = re.compile('["\\\\\x00-\x1f<>&\u2028\u2029\ud800-\udfff]')
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SUSPECT: Final = re.compile("[\ud800-\udfff]|\\\\u[dD]")
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_STRUCTURE: Final = re.compile(_STRING.pattern + r"|[\[\]{}]")
_SCALAR: Final = re.compile(r"[^\s,\]}]+")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
# A string that is not closed ends with the text: another attempt at each quote in it would be quadratic.
_BRACKETS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)

DEEPEST: Final = 200
"""The deepest nesting of lists and objects. Go accepts 10,000, for which our stack is too small."""

_EXPONENT_BELOW: Final = 1e-6
_EXPONENT_FROM: Final = 1e21

_LONGEST_ESCAPE: Final = 6
_SLICE: Final = 65_536
"""Characters that are escaped together: each escaped one takes the memory of a text until they are joined."""

_WRITTEN_COST: Final = 3
_PARSED_COST: Final = 3
_FIELD_COST: Final = 16
_OBJECT_SIZE: Final = 240
_VALUE_SIZE: Final = 80
"""Bytes of a parsed value, beside its text."""


class Number(str):
    """A number as its text in the document."""

    __slots__ = ()


def text(data: bytes) -> str:
    """Bytes as text; invalid UTF-8 becomes surrogates, which `marshal` and the readers replace as Go does."""
    return data.decode("utf-8", "surrogateescape")


def plain_float(number: float) -> str:
    """The fewest digits that round-trip, without an exponent."""
    digits = format(Decimal(repr(number)), "f")
    return digits.removesuffix(".0")


def json_float(number: float) -> str:
    """As `plain_float`, but with an exponent for the very small and the very large."""
    if number == 0 or _EXPONENT_BELOW <= abs(number) < _EXPONENT_FROM:
        return plain_float(number)
    mantissa, _, exponent = repr(float(number)).partition("e")
    return f"{mantissa.removesuffix('.0')}e{exponent[0]}{exponent[1:].lstrip('0')}"


def quote(value: str, work: Work, *, escape_html: bool = True) -> str:
    """A string in quotes."""
    size = len(value)
    most = _LONGEST_ESCAPE * size
    work.make(most)
    pattern = _ESCAPED_HTML if escape_html else _ESCAPED
    slices = (value[start : start + _SLICE] for start in range(0, size, _SLICE))
    text = f'"{"".join([pattern.sub(_escape, each) for each in slices])}"'
    work.memory += most - len(text)
    work.step(len(text) - size)
    return text


def _escape(found: "re.Match[str]") -> str:
    char = found[0]
    if char in _SHORT:
        return _SHORT[char]
    return "\\ufffd" if "\ud800" <= char <= "\udfff" else f"\\u{ord(char):04x}"


def scalar(value: object, work: Work, *, escape_html: bool = True) -> str | None:
    """JSON of a value that has no members; None for any other."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return json_float(value)
        case Number():
            return str(value)
        case str():
            return quote(value, work, escape_html=escape_html)
        case _:
            return None


def marshal(value: Json, work: Work, *, escape_html: bool = True) -> str:
    """Compact JSON with sorted keys. Raises TypeError for other types."""
    work.step(_WRITTEN_COST)
    text = scalar(value, work, escape_html=escape_html)
    if text is not None:
        return text
    match value:
        case dict():
            return _marshal_object(cast("dict[str, Json]", value), work, escape_html=escape_html)
        case list() | tuple():
            members = cast("list[Json]", value)
            return f"[{joined([marshal(member, work, escape_html=escape_html) for member in members], work)}]"
        case _:
            raise TypeError(f"no JSON for {type(value).__name__}")


def _marshal_object(fields: Mapping[str, Json], work: Work, *, escape_html: bool) -> str:
    members = [
        f"{quote(key, work, escape_html=escape_html)}:{marshal(fields[key], work, escape_html=escape_html)}"
        for key in sorted(fields)
    ]
    return "{" + joined(members, work) + "}"


def joined(parts: Sequence[str], work: Work) -> str:
    """The parts with commas between them."""
    work.make(sum(map(len, parts)) + len(parts))
    return ",".join(parts)


def unmarshal(data: bytes | str, work: Work, *, keep_numbers: bool = False) -> Json:
    """The value of one document: numbers are floats, the last of equal keys wins.

    With `keep_numbers` a number is its text (Go's `UseNumber`), and has no range. Raises Malformed for text
    that is not JSON, a number out of range, or nesting beyond DEEPEST.
    """
    return _load(_decoded(data), work, Number if keep_numbers else _number)


def is_valid(data: bytes | str, work: Work) -> bool:
    """Whether it is JSON; as in Go numbers have no range here."""
    try:
        unmarshal(data, work, keep_numbers=True)
    except Malformed:
        return False
    return True


def _load(source: str, work: Work, number: Callable[[str], Json]) -> Json:
    _pay_for_values(source, work)
    if _too_deep(source):
        raise Malformed("failed to unmarshal JSON: nested too deeply")
    problem = ""
    try:
        value = json.loads(source, parse_int=number, parse_float=number, parse_constant=_reject_constant)
        return _replace_invalid(value) if _SUSPECT.search(source) else value
    except OverflowError:
        problem = "a number is out of range"
    except ValueError:
        problem = "invalid syntax"
    # Raised outside of the handler: the parser's error contains the text, and must not become the context.
    raise Malformed(f"failed to unmarshal JSON: {problem}")


def _pay_for_values(source: str, work: Work) -> None:
    """Pay before the parser makes them: in one piece, and without a word in between.

    Between commas and brackets there are at most as many values as there are of these; a text that has many
    in its strings pays for some that it has not.
    """
    objects = source.count("{")
    others = source.count("[") + source.count(",")
    work.step(_PARSED_COST * (objects + others + 1))
    work.make(_OBJECT_SIZE * objects + _VALUE_SIZE * others + len(source))


def _too_deep(source: str) -> bool:
    """Whether the nesting exceeds our bound; the interpreter's own bound differs between versions."""
    if source.count("[") + source.count("{") <= DEEPEST:
        return False
    depth = 0
    for found in _BRACKETS.finditer(source):
        token = found[0]
        if token in "[{":
            depth += 1
            if depth > DEEPEST:
                return True
        elif token in "]}":
            depth -= 1
    return False


def _decoded(data: bytes | str) -> str:
    return text(data) if isinstance(data, bytes) else data


def _number(digits: str) -> float:
    number = float(digits)
    if isfinite(number):
        return number
    raise OverflowError


def _reject_constant(_name: str) -> float:
    """Rejects NaN and Infinity, which Python's parser accepts."""
    raise ValueError


def _replace_invalid(value: Json) -> Json:
    """The value with U+FFFD for lone surrogates and invalid UTF-8."""
    match value:
        case Number():
            return value
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case list():
            return [_replace_invalid(member) for member in cast("Sequence[Json]", value)]
        case dict():
            fields = cast("dict[str, Json]", value)
            return {_replace_invalid(key): _replace_invalid(member) for key, member in fields.items()}
        case _:
            return value


def unmarshal_object(data: bytes | str, work: Work) -> dict[str, Json]:
    """As `unmarshal`, for a document that must be an object; null counts as an empty one."""
    return _object(unmarshal(data, work))


def _object(value: Json) -> dict[str, Json]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed("failed to unmarshal JSON: not an object")
    return cast("dict[str, Json]", value)


def raw_fields(data: bytes | str, work: Work) -> dict[str, str]:
    """The members of a JSON object, each as its exact text in the document."""
    source = _decoded(data)
    _object(_load(source, work, str))  # raw numbers have no range
    fields: dict[str, str] = {}
    position = _skip(source, 0)
    if source[position] != "{":
        return fields  # null
    position = _skip(source, position + 1)
    while source[position] != "}":
        key_end = _end(source, position, work)
        start = _skip(source, _skip(source, key_end) + 1)
        end = _end(source, start, work)
        fields[unmarshal(source[position:key_end], work)] = source[start:end]
        position = _skip(source, end)
        if source[position] == ",":
            position = _skip(source, position + 1)
    return fields


def raw_items(data: bytes | str, work: Work) -> list[str]:
    """The items of a JSON list, each as its exact text in the document."""
    source = _decoded(data)
    if not isinstance(_load(source, work, str), list):
        raise Malformed("failed to unmarshal JSON: not a list")
    items: list[str] = []
    position = _skip(source, _skip(source, 0) + 1)
    while source[position] != "]":
        end = _end(source, position, work)
        items.append(source[position:end])
        position = _skip(source, end)
        if source[position] == ",":
            position = _skip(source, position + 1)
    return items


def _skip(source: str, position: int) -> int:
    found = _SPACE.match(source, position)
    return found.end() if found else position


def _end(source: str, start: int, work: Work) -> int:
    """The end of the value that starts here, in a valid document; pays for finding it, and for its text."""
    end = _found_end(source, start)
    work.step(_FIELD_COST)
    work.make(end - start)
    return end


def _found_end(source: str, start: int) -> int:
    if source[start] == '"':
        return _match_end(_STRING, source, start)
    if source[start] not in "[{":
        return _match_end(_SCALAR, source, start)
    depth = 0
    for found in _STRUCTURE.finditer(source, start):
        token = found[0]
        if token in "[{":
            depth += 1
        elif token in "]}":
            depth -= 1
            if depth == 0:
                return found.end()
    raise AssertionError("a valid document closes what it opens")


def _match_end(pattern: "re.Pattern[str]", source: str, start: int) -> int:
    found = pattern.match(source, start)
    if found is None:
        raise AssertionError("a valid document has a value here")
    return found.end()


def to_secret_map(data: bytes | str, work: Work) -> dict[str, bytes]:
    """The members of a JSON object as values of a secret: strings unquoted, null empty, the rest raw."""
    return {key: _secret_value(raw, work) for key, raw in raw_fields(data, work).items()}


def _secret_value(raw: str, work: Work) -> bytes:
    work.make(len(raw))
    if raw == "null":
        return b""
    if raw.startswith('"'):
        value: str = unmarshal(raw, work)
        return value.encode()
    return raw.encode("utf-8", "surrogateescape")


def byte_value(value: Json, work: Work) -> bytes:
    """One JSON value as the value of a secret: strings as they are, null empty, lists and objects as JSON."""
    match value:
        case str():
            work.make(len(value))
            return value.encode()
        case None:
            return b""
        case bool():
            return b"true" if value else b"false"
        case int() | float():
            return plain_float(float(value)).encode()
        case _:
            return marshal(value, work).encode()
