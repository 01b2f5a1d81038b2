"""Matches values with queries, and names with wildcards."""

import operator
from collections.abc import Callable
from typing import Final

from syncret.providers.kit.golang.gjson.paths import Query
from syncret.providers.kit.golang.gjson.scan import NOTHING, Kind, Result, go_float

_TRUE: Final = Result(Kind.TRUE, "true")
_FALSE: Final = Result(Kind.FALSE, "false")
_BOOLS: Final = {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}
_ORDER: Final[dict[str, Callable[[str | float, str | float], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def matches(query: Query, value: Result) -> bool:
    """Whether a value matches a query; without an operator, any value does."""
    wanted = query.value
    if wanted.startswith("~"):
        value = _as_bool(wanted[1:], value)
        wanted = "true"
    if not value.exists:
        return False
    if not query.operator:
        return True
    match value.kind:
        case Kind.STRING:
            return _string(query.operator, value.string, wanted)
        case Kind.NUMBER:
            compare = _ORDER.get(query.operator)
            return compare is not None and compare(value.number, go_float(wanted))
        case Kind.TRUE | Kind.FALSE:
            return _bool(query.operator, wanted, truth=value.kind is Kind.TRUE)
        case _:
            return False


def glob(name: str, pattern: str) -> bool:
    """Whether a whole name matches a pattern of `*`, `?` and characters; a backslash escapes one."""
    tokens = _tokens(pattern)
    if tokens is None:
        return False
    place = at = 0
    star = star_at = -1
    while at < len(name):
        token = tokens[place] if place < len(tokens) else None
        if token == "*":
            star, star_at = place, at
            place += 1
        elif token is not None and token in {"?", "=" + name[at]}:
            place, at = place + 1, at + 1
        elif star >= 0:
            star_at += 1
            place, at = star + 1, star_at
        else:
            return False
    return all(token == "*" for token in tokens[place:])


def _tokens(pattern: str) -> list[str] | None:
    """`*`, `?`, or `=` with a character; None for a pattern that ends in a lone backslash."""
    tokens: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            following = next(characters, None)
            if following is None:
                return None
            tokens.append("=" + following)
        else:
            tokens.append(character if character in "*?" else "=" + character)
    return tokens


def _as_bool(sort: str, value: Result) -> Result:
    match sort:
        case "*":
            return _TRUE if value.exists else _FALSE
        case "null":
            return _TRUE if value.kind is Kind.NULL else _FALSE
        case "true":
            return _TRUE if truthy(value) else _FALSE
        case "false":
            return _TRUE if _is_false(value) else _FALSE
        case _:
            return NOTHING


def truthy(value: Result) -> bool:
    """Whether a value counts as true."""
    match value.kind:
        case Kind.TRUE:
            return True
        case Kind.STRING:
            return _BOOLS.get(value.string.lower(), False)
        case Kind.NUMBER:
            return value.number != 0
        case _:
            return False


def _is_false(value: Result) -> bool:
    match value.kind:
        case Kind.NULL | Kind.FALSE:
            return True
        case Kind.STRING:
            return not _BOOLS.get(value.string.lower(), True)
        case Kind.NUMBER:
            return value.number == 0
        case _:
            return False


def _string(sign: str, value: str, wanted: str) -> bool:
    if sign in {"%", "!%"}:
        return glob(value, wanted) == (sign == "%")
    compare = _ORDER.get(sign)
    return compare is not None and compare(value, wanted)


def _bool(sign: str, wanted: str, *, truth: bool) -> bool:
    own, other, strict, or_equal = ("true", "false", ">", ">=") if truth else ("false", "true", "<", "<=")
    match sign:
        case "=":
            return wanted == own
        case "!=":
            return wanted != own
        case _:
            return sign == or_equal or (sign == strict and wanted == other)
