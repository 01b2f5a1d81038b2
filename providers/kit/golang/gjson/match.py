"""Matches values with queries, and names with wildcards."""

import operator
from collections.abc import Callable
from typing import Final, NamedTuple

from syncret.providers.kit.golang.gjson.paths import Query
from syncret.providers.kit.golang.gjson.scan import NOTHING, Kind, Result, go_float
from syncret.providers.work import Work

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


def matches(query: Query, value: Result, work: Work) -> bool:
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
            return _string(query.operator, value.string, wanted, work)
        case Kind.NUMBER:
            compare = _ORDER.get(query.operator)
            return compare is not None and compare(value.number, go_float(wanted))
        case Kind.TRUE | Kind.FALSE:
            return _bool(query.operator, wanted, truth=value.kind is Kind.TRUE)
        case _:
            return False


LIMIT: Final = 10_000
"""Restarts after a star, for each byte of the name, after which gjson gives up with no match."""

_STAR: Final = "*"
_ANY: Final = "?"
_TRY_COST: Final = 4


class _Part(NamedTuple):
    """What is left to match: from `at` to `end` of the name, from `place` to `last` of the pattern."""

    at: int
    end: int
    place: int
    last: int


def glob(name: str, pattern: str, work: Work) -> bool:
    """Whether a whole name matches a pattern of `*`, `?` and characters; a backslash escapes one.

    Tries in the order of github.com/tidwall/match, whose limit counts the tries.
    """
    if pattern == _STAR:
        return True
    work.step(len(pattern))
    tokens = _tokens(pattern)
    part = _Part(0, len(name), 0, len(tokens))
    stars: list[_Part] = []
    tries, most = 1, LIMIT * len(name.encode("utf-8", "surrogateescape"))
    while True:
        found = _up_to_star(name, tokens, part, work)
        if isinstance(found, _Part):
            stars.append(found)
        elif found:
            return True
        else:
            while stars and stars[-1].at == stars[-1].end:
                stars.pop()
            if not stars:
                return False
            stars[-1] = stars[-1]._replace(at=stars[-1].at + 1)  # it takes one more character
        if tries > most:
            return False
        work.step(_TRY_COST)
        tries += 1
        part = stars[-1]._replace(place=stars[-1].place + 1)


def _up_to_star(name: str, tokens: list[str], part: _Part, work: Work) -> bool | _Part:
    """Whether the part matches; what is left from its first star on, if more than that star decides."""
    at, end, place, last = part
    while at < end and place < last and tokens[place] in {_ANY, "=" + name[at]}:
        work.step()
        at, place = at + 1, place + 1
    if place == last or tokens[place] != _STAR:
        return place == last and at == end
    while place + 1 < last and tokens[place + 1] == _STAR:
        place += 1
    while at < end and place + 1 < last and tokens[last - 1] != _STAR:  # what stands behind the last star
        work.step()
        token = tokens[last - 1]
        if token != _ANY and token[-1] != name[end - 1]:
            return False
        end, last = end - 1, last - 1
    return place + 1 == last or _Part(at, end, place, last)


def _tokens(pattern: str) -> list[str]:
    """`*`, `?`, or `=` with a character; a lone backslash at the end stands for itself, after a star only."""
    tokens: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            following = next(characters, None)
            tokens.append("\\" if following is None else "=" + following)
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


def _string(sign: str, value: str, wanted: str, work: Work) -> bool:
    if sign in {"%", "!%"}:
        return glob(value, wanted, work) == (sign == "%")
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
