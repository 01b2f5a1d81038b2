"""Parses paths: components, queries, pipes and multipaths. The search pays for what is parsed."""

import re
from typing import Final, NamedTuple

from syncret.providers.kit.golang.gjson.scan import squash_end, string_end, unescape
from syncret.providers.work import Work

_OPERATORS: Final = ("!=", "!%", "<=", ">=", "==", "<", ">", "=", "%")
_SPACE: Final = "".join(map(chr, range(33)))
_QUERY_SIGN: Final = re.compile("[!=<>%]")
_COMPLEX: Final = re.compile(r"[\x00-\x1f\[\]{}()#|!]")


class Query(NamedTuple):
    """`#(path operator value)`, for the first match, or for all with another `#` after it."""

    path: str = ""
    operator: str = ""
    value: str = ""
    all: bool = False


class Component(NamedTuple):
    """The first component of a path, and what follows it: more of the path, or a pipe."""

    part: str
    rest: str = ""
    more: bool = False
    pipe: str | None = None
    has_wildcards: bool = False
    hashed: bool = False
    """Whether it contains a `#`, so that it is no index."""
    each: bool = False
    """`#.rest`: the rest is evaluated on every element."""
    query: Query | None = None


class Selector(NamedTuple):
    """One path of a multipath, and its name."""

    name: str
    path: str


def object_component(path: str, modifiers: frozenset[str]) -> Component:
    """The first component, for a member of an object: unescaped, maybe with wildcards."""
    part: list[str] = []
    wild = False
    place = 0
    while place < len(path):
        char = path[place]
        if char in ".|":
            return _cut(Component("".join(part), has_wildcards=wild), path, place, modifiers)
        if char == "\\":
            place += 1
            char = path[place : place + 1]
        elif char in "*?":
            wild = True
        part.append(char)
        place += 1
    return Component("".join(part), has_wildcards=wild)


def array_component(path: str, modifiers: frozenset[str], work: Work) -> Component:
    """The first component, for elements of an array: an index, `#`, or a query."""
    each = path.startswith("#.")
    query: Query | None = None
    hashed = False
    place = 0
    while place < len(path):
        char = path[place]
        if char in ".|":
            component = Component(path[:place], hashed=hashed, each=each, query=query)
            return _cut(component, path, place, modifiers)
        if char == "#":
            hashed = True
            if place == 0 and path[1:2] in {"[", "("}:
                query, end = parse_query(path, work)
                if end == 0:
                    break
                place = end - 1
                if path[end : end + 1] == "#":
                    query = query._replace(all=True)
        place += 1
    return Component(path, hashed=hashed, each=each, query=query)


def _cut(component: Component, path: str, place: int, modifiers: frozenset[str]) -> Component:
    rest = path[place + 1 :]
    if path[place] == "|" or (not component.hashed and rest and _starts_with_modifier(rest, modifiers)):
        return component._replace(pipe=rest)
    return component._replace(rest=rest, more=True)


def _starts_with_modifier(rest: str, modifiers: frozenset[str]) -> bool:
    """Whether a modifier or a multipath follows a dot: these apply to the result so far."""
    if rest[0] == "@":
        return re.split(r"[.|:]", rest[1:], maxsplit=1)[0] in modifiers
    return rest[0] in "[{"


def parse_query(path: str, work: Work) -> tuple[Query, int]:
    """The query at the start of a path, and its end; 0 if it is not closed."""
    sign = 0
    depth = 1
    escaped = False
    place = 2
    while place < len(path):
        char = path[place]
        if depth == 1 and not sign and _QUERY_SIGN.match(char):
            sign = place
        elif char == "\\":
            place += 1
        elif char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
            if depth == 0:
                break
        elif char == '"':
            end = quote_end(path, place)
            escaped = escaped or "\\" in path[place:end]
            place = end
        place += 1
    if depth:
        return Query(), 0
    if not sign:
        return Query(path[2:place].strip(_SPACE)), place + 1
    operator, value = _operation(path[sign:place].strip(_SPACE), work, escaped=escaped)
    return Query(path[2:sign].strip(_SPACE), operator, value), place + 1


def _operation(text: str, work: Work, *, escaped: bool) -> tuple[str, str]:
    operator = text if len(text) == 1 else next((sign for sign in _OPERATORS if text.startswith(sign)), "")
    value = text[len(operator) :].strip(_SPACE)
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = unescape(value[1:-1], work) if escaped else value[1:-1]
    return "=" if operator == "==" else operator, value


def quote_end(path: str, start: int) -> int:
    """The offset of the closing quote, or the end of the path."""
    place = start + 1
    while place < len(path) and path[place] != '"':
        place += 2 if path[place] == "\\" else 1
    return place


def split_pipe(path: str, work: Work) -> tuple[str, str | None]:
    """The path up to its first pipe that is not inside a query, and what follows that pipe."""
    if "|" not in path:
        return path, None
    if path.startswith("{"):
        # As in gjson, everything after the brace counts as inside of it.
        end = string_end(path, 1)[0] if path[1] == '"' else squash_end("{" + path[2:], 0, work) + 1
        return (path[:end], path[end + 1 :]) if path[end : end + 1] == "|" else (path, None)
    place = 0
    while place < len(path):
        char = path[place]
        if char == "\\":
            place += 1
        elif char == "|":
            return path[:place], path[place + 1 :]
        elif char == "." and path[place + 1 : place + 2] == "#":
            place += 2
            if path[place : place + 1] in {"[", "("}:
                place = _selector_end(path, place)
        place += 1
    return path, None


def _selector_end(path: str, start: int) -> int:
    opening = path[start]
    closing = "]" if opening == "[" else ")"
    depth = 1
    place = start + 1
    while place < len(path):
        char = path[place]
        if char == "\\":
            place += 1
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                break
        elif char == '"':
            place = quote_end(path, place)
        place += 1
    return place


def selectors(path: str) -> tuple[list[Selector] | None, str]:
    """The paths of the multipath at the start, and the rest; None if it is not closed."""
    found: list[Selector] = []
    modifier = False
    depth, colon, start, place = 1, 0, 1, 1
    while place < len(path):
        char = path[place]
        if char == "\\":
            place += 1
        elif char == '"':
            place = quote_end(path, place)
        elif char == "@":
            modifier = modifier or path[place - 1] in ".|"
        elif char == ":" and not modifier and not colon and depth == 1:
            colon = place
        depth += (char in "[({") - (char in "])}")
        if depth == 0 or (char == "," and depth == 1):
            found.append(Selector(path[start : max(colon, start)], path[(colon or start - 1) + 1 : place]))
            modifier, colon, start = False, 0, place + 1
        if depth == 0:
            return found, path[start:]
        place += 1
    return None, ""


def last_name(path: str) -> str:
    """The default name of a path in a multipath: its last component, or `_` if that is no name."""
    last = re.split(r"(?<!\\)[.|]", path)[-1]
    return "_" if _COMPLEX.search(last) else last
