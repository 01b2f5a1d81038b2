"""The filters of Secret Manager's lists: terms joined by spaces, AND, OR and NOT.

`name:db`, `labels.team=a`, `labels.team:*`, `state:ENABLED`, `-labels.x=y`. `:` asks whether the value
contains the text, `=` whether it is the text; both ignore case. `*` asks whether the field is there.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from tests.support.servers.google.errors import GoogleError

Matches: TypeAlias = Callable[[Mapping[str, Any]], bool]

_TOKEN = re.compile(r'\s*(\(|\)|(?:"[^"]*"|[^\s()])+)')
_TERM = re.compile(r'([A-Za-z_.][A-Za-z0-9_.-]*)(:|!=|=)(?:"([^"]*)"|(\S*))\Z')


def compiled(text: str) -> Matches:
    """A function that says whether a resource (as JSON) matches."""
    tokens = [found[1] for found in _TOKEN.finditer(text)]
    if not tokens:
        return lambda _resource: True
    matches, rest = _either(tokens)
    if rest:
        raise _bad(text)
    return matches


def _either(tokens: list[str]) -> tuple[Matches, list[str]]:
    first, rest = _all(tokens)
    options = [first]
    while rest and rest[0] == "OR":
        option, rest = _all(rest[1:])
        options.append(option)
    return (lambda resource: any(option(resource) for option in options)), rest


def _all(tokens: list[str]) -> tuple[Matches, list[str]]:
    parts: list[Matches] = []
    rest = tokens
    while rest and rest[0] not in {")", "OR"}:
        if rest[0] == "AND":
            rest = rest[1:]
            continue
        part, rest = _one(rest)
        parts.append(part)
    if not parts:
        raise _bad(" ".join(tokens))
    return (lambda resource: all(part(resource) for part in parts)), rest


def _one(tokens: list[str]) -> tuple[Matches, list[str]]:
    head, rest = tokens[0], tokens[1:]
    if head == "NOT" or (head.startswith("-") and len(head) > 1):
        negated, rest = _one(rest if head == "NOT" else [head[1:], *rest])
        return (lambda resource: not negated(resource)), rest
    if head == "(":
        inner, rest = _either(rest)
        if not rest or rest[0] != ")":
            raise _bad(head)
        return inner, rest[1:]
    return _term(head), rest


def _term(text: str) -> Matches:
    found = _TERM.match(text)
    if found is None:
        raise _bad(text)
    path, operator = found[1].split(".", 1), found[2]
    wanted = (found[3] if found[3] is not None else found[4]).lower()

    def matches(resource: Mapping[str, Any]) -> bool:
        value: Any = resource
        for part in path:
            value = cast("Mapping[str, Any]", value).get(part) if isinstance(value, Mapping) else None
        if operator == ":" and wanted == "*":
            return value is not None
        told = str(value or "").lower()
        if operator == ":":
            return wanted in told
        return (told == wanted) is (operator == "=")

    return matches


def _bad(text: str) -> GoogleError:
    return GoogleError("INVALID_ARGUMENT", f"Invalid list filter: {text}")
