"""Modifiers of paths, `@name` or `@name:argument`: each transforms the document that the path has led to.

A path can apply them again and again: each pays for every text that it puts together, before it does.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang.gjson.match import truthy
from syncret.providers.kit.golang.gjson.scan import (
    NOTHING,
    Kind,
    Result,
    items,
    parse,
    squash_end,
    string_end,
)
from syncret.providers.work import Work

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[^\x00-\x20"]+', re.DOTALL)
_LEAST_LINE: Final = 3
MAX_DEPTH: Final = 100


class Layout(NamedTuple):
    """The width up to which an array is written on one line, and the prefix of each line and level."""

    width: int = 80
    prefix: str = ""
    indent: str = "  "
    sort_keys: bool = False


_TOKEN_SIZE: Final = 60
_SPACES: Final = ' "\t\n\r'
"""What separates the tokens of JSON text that is not broken."""


def ugly(text: str, work: Work) -> str:
    """The text without white space outside of strings."""
    work.make(len(text) + _TOKEN_SIZE * (1 + sum(map(text.count, _SPACES))))
    return "".join(_TOKEN.findall(text))


def pretty(text: str, layout: Layout, work: Work) -> str:
    """One member or element per line; an array without objects that fits the width is one line."""
    value = parse(text, work)
    if not value.exists:
        return ""
    return layout.prefix + _block(value, layout, work, 0, len(layout.prefix)) + "\n"


def _block(value: Result, layout: Layout, work: Work, level: int, column: int) -> str:
    if value.kind is not Kind.JSON or level >= MAX_DEPTH:
        return value.raw
    opening, closing = ("[", "]") if value.is_array else ("{", "}")
    if value.is_array and layout.width > 0:
        room = layout.width - column
        line = _line(value, work, 0) if room > _LEAST_LINE else None
        if line is not None and len(line) <= room:
            return line
    members = list(items(value, work))
    if not members:
        return opening + closing
    if value.is_object and layout.sort_keys:
        members.sort(key=lambda member: parse(member[0], work).string)
    margin = len(layout.prefix) + len(layout.indent) * (level + 1)
    work.make(2 * margin)
    inner = layout.prefix + layout.indent * (level + 1)
    lines: list[str] = []
    for key, member in members:
        work.make(margin + len(key))
        head = inner + (f"{key}: " if key else "")
        block = _block(member, layout, work, level + 1, len(head) + 1)
        work.make(len(head) + len(block))
        lines.append(head + block)
    work.make(sum(map(len, lines)))
    return f"{opening}\n" + ",\n".join(lines) + f"\n{layout.prefix}{layout.indent * level}{closing}"


def _line(value: Result, work: Work, level: int) -> str | None:
    """The array on one line; None if it contains an object."""
    if value.is_object or level >= MAX_DEPTH:
        return None
    if not value.is_array:
        return value.raw
    parts: list[str] = []
    for _, element in items(value, work):
        part = _line(element, work, level + 1)
        if part is None:
            return None
        parts.append(part)
    work.make(sum(map(len, parts)) + 2 * len(parts))
    return "[" + ", ".join(parts) + "]"


class Search(Protocol):
    """The lookup that a modifier is part of: its remaining work, and its search for a path."""

    @property
    def work(self) -> Work: ...

    def get(self, document: str, path: str, /) -> Result: ...


Modifier: TypeAlias = Callable[[str, str, Search], str]

_SPACE: Final = " \t\n\r"
_LITERALS: Final = frozenset({"true", "false", "null", "nan", "inf"})


class Applied(NamedTuple):
    """The new document, and the rest of the path."""

    document: str
    rest: str


def apply(document: str, path: str, search: Search) -> Applied | None:
    """The result of the modifier at the start of a path; None if there is no modifier of that name."""
    end = next((place for place, char in enumerate(path) if char in ":|."), len(path))
    modifier = MODIFIERS.get(path[1:end])
    if modifier is None:
        return None
    rest = path[end:]
    argument = ""
    if rest.startswith(":"):
        argument, rest = _argument(rest[1:], search.work)
    return Applied(modifier(document, argument, search), rest)


def literal(_document: str, path: str, search: Search) -> Applied | None:
    """The literal at the start of a path (`!"text"`, `!true`); None if there is none."""
    text = path[1:]
    if text[:1] and text[0] in '{["+-0123456789':
        end = _literal_end(text, search.work)
        return Applied(text[:end], text[end:])
    end = next((place for place, char in enumerate(text) if char in "|."), len(text))
    return Applied(text[:end], text[end:]) if text[:end].lower() in _LITERALS else None


def _literal_end(text: str, work: Work) -> int:
    """The end of a literal. As in gjson, any first character counts as an opening bracket."""
    return squash_end("{" + text[1:], 0, work)


def _argument(text: str, work: Work) -> tuple[str, str]:
    """The argument at the start of a text: a JSON value, or everything up to the next pipe."""
    if text[:1] and text[0] in '{["':
        end = _nested_end(text, 0, work)
        return text[:end], text[end:]
    place = 0
    while place < len(text) and text[place] != "|":
        place = _nested_end(text, place, work) if text[place] in '{["(' else place + 1
    return text[:place], text[place:]


def _nested_end(text: str, start: int, work: Work) -> int:
    return string_end(text, start)[0] if text[start] == '"' else squash_end(text, start, work)


def _option(argument: str, name: str, work: Work) -> Result | None:
    if not argument:
        return None
    options = items(parse(argument, work), work)
    found = [value for key, value in options if parse(key, work).string == name]
    return found[-1] if found else None


def _flag(argument: str, name: str, work: Work) -> bool:
    option = _option(argument, name, work)
    return option is not None and truthy(option)


def _this(document: str, _argument: str, _search: Search) -> str:
    return document


def _valid(document: str, _argument: str, search: Search) -> str:
    return document if gojson.is_valid(document, search.work) else ""


def _ugly(document: str, _argument: str, search: Search) -> str:
    return ugly(document, search.work)


def _pretty(document: str, argument: str, search: Search) -> str:
    work, usual = search.work, Layout()
    width = _option(argument, "width", work)
    layout = Layout(
        width=usual.width if width is None else int(width.number),
        prefix=_blank(_option(argument, "prefix", work), usual.prefix),
        indent=_blank(_option(argument, "indent", work), usual.indent),
        sort_keys=_flag(argument, "sortKeys", work),
    )
    return pretty(document, layout, work)


def _blank(option: Result | None, usual: str) -> str:
    return usual if option is None else "".join(char for char in option.text if char in _SPACE)


def _reverse(document: str, _argument: str, search: Search) -> str:
    work = search.work
    value = parse(document, work)
    if value.kind is not Kind.JSON:
        return document
    parts = _members(value, work) if value.is_object else [each.raw for _, each in items(value, work)]
    return _enclosed("{" if value.is_object else "[", parts[::-1], work)


def _flatten(document: str, argument: str, search: Search) -> str:
    work = search.work
    value = parse(document, work)
    if not value.is_array:
        return document
    deep = _flag(argument, "deep", work)
    return _enclosed("[", [raw for raw in _flat(value, work, deep=deep) if raw], work)


def _flat(value: Result, work: Work, *, deep: bool) -> Iterator[str]:
    """The elements, with nested arrays replaced by their elements: of one level, or of all."""
    stack = [items(value, work)]
    while stack:
        _, element = next(stack[-1], ("", NOTHING))
        if not element.exists:
            stack.pop()
        elif not element.is_array:
            yield element.raw.strip()
        elif deep:
            stack.append(items(element, work))
        else:
            yield element.raw[1:-1].strip()


def _join(document: str, argument: str, search: Search) -> str:
    work = search.work
    value = parse(document, work)
    if not value.is_array:
        return document
    objects = [element for _, element in items(value, work) if element.is_object]
    if _flag(argument, "preserve", work):
        return _enclosed("{", [element.raw[1:-1] for element in objects], work)
    keys: dict[str, str] = {}
    members: dict[str, str] = {}
    for element in objects:
        for key, member in items(element, work):
            name = parse(key, work).string
            keys.setdefault(name, key)
            members[name] = member.raw
    return _enclosed("{", [_member(key, members[name], work) for name, key in keys.items()], work)


def _keys(document: str, _argument: str, search: Search) -> str:
    value = parse(document, search.work)
    found = items(value, search.work)
    return _enclosed("[", [key if value.is_object else "null" for key, _ in found], search.work)


def _values(document: str, _argument: str, search: Search) -> str:
    value = parse(document, search.work)
    if value.is_array:
        return document
    return _enclosed("[", [member.raw for _, member in items(value, search.work)], search.work)


def _to_string(document: str, _argument: str, search: Search) -> str:
    return gojson.quote(document, search.work)


def _from_string(document: str, _argument: str, search: Search) -> str:
    return parse(document, search.work).text if gojson.is_valid(document, search.work) else ""


def _group(document: str, _argument: str, search: Search) -> str:
    work = search.work
    value = parse(document, work)
    if not value.is_object:
        return ""
    groups: list[list[str]] = []
    for key, member in items(value, work):
        if member.is_array:
            for index, (_, element) in enumerate(items(member, work)):
                if index == len(groups):
                    groups.append([])
                groups[index].append(_member(key, element.raw, work))
    return _enclosed("[", [_enclosed("{", group, work) for group in groups], work)


def _dig(document: str, argument: str, search: Search) -> str:
    found: list[str] = []
    stack = [parse(document, search.work)]
    while stack:
        value = stack.pop()
        result = search.get(value.raw, argument)
        if result.exists:
            found.append(result.raw)
        if value.kind is Kind.JSON:
            stack.extend(reversed([member for _, member in items(value, search.work)]))
    return _enclosed("[", found, search.work)


def _members(value: Result, work: Work) -> list[str]:
    return [_member(key, member.raw, work) for key, member in items(value, work)]


def _member(key: str, raw: str, work: Work) -> str:
    work.make(len(key) + len(raw))
    return f"{key}:{raw}"


def _enclosed(opening: str, parts: Sequence[str], work: Work) -> str:
    return opening + gojson.joined(parts, work) + ("]" if opening == "[" else "}")


MODIFIERS: Final[dict[str, Modifier]] = {
    "dig": _dig,
    "flatten": _flatten,
    "fromstr": _from_string,
    "group": _group,
    "join": _join,
    "keys": _keys,
    "pretty": _pretty,
    "reverse": _reverse,
    "this": _this,
    "tostr": _to_string,
    "ugly": _ugly,
    "valid": _valid,
    "values": _values,
}

NAMES: Final = frozenset(MODIFIERS)
