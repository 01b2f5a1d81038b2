"""Modifiers of paths, `@name` or `@name:argument`: each transforms the document that the path has led to."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from syncret.providers.errors import Malformed
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

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[^\x00-\x20"]+', re.DOTALL)
_LEAST_LINE: Final = 3
MAX_DEPTH: Final = 100


class Layout(NamedTuple):
    """The width up to which an array is written on one line, and the prefix of each line and level."""

    width: int = 80
    prefix: str = ""
    indent: str = "  "
    sort_keys: bool = False


def ugly(text: str) -> str:
    """The text without white space outside of strings."""
    return "".join(_TOKEN.findall(text))


def pretty(text: str, layout: Layout) -> str:
    """One member or element per line; an array without objects that fits the width is one line."""
    value = parse(text)
    if not value.exists:
        return ""
    return layout.prefix + _block(value, layout, 0, len(layout.prefix)) + "\n"


def _block(value: Result, layout: Layout, level: int, column: int) -> str:
    if value.kind is not Kind.JSON or level >= MAX_DEPTH:
        return value.raw
    opening, closing = ("[", "]") if value.is_array else ("{", "}")
    if value.is_array and layout.width > 0:
        room = layout.width - column
        line = _line(value, 0) if room > _LEAST_LINE else None
        if line is not None and len(line) <= room:
            return line
    members = list(items(value))
    if not members:
        return opening + closing
    if value.is_object and layout.sort_keys:
        members.sort(key=lambda member: parse(member[0]).string)
    inner = layout.prefix + layout.indent * (level + 1)
    lines: list[str] = []
    for key, member in members:
        head = inner + (f"{key}: " if key else "")
        lines.append(head + _block(member, layout, level + 1, len(head) + 1))
    return f"{opening}\n" + ",\n".join(lines) + f"\n{layout.prefix}{layout.indent * level}{closing}"


def _line(value: Result, level: int) -> str | None:
    """The array on one line; None if it contains an object."""
    if value.is_object or level >= MAX_DEPTH:
        return None
    if not value.is_array:
        return value.raw
    parts: list[str] = []
    for _, element in items(value):
        part = _line(element, level + 1)
        if part is None:
            return None
        parts.append(part)
    return "[" + ", ".join(parts) + "]"


Get: TypeAlias = Callable[[str, str], Result]
Modifier: TypeAlias = Callable[[str, str, Get], str]

_SPACE: Final = " \t\n\r"
_LITERALS: Final = frozenset({"true", "false", "null", "nan", "inf"})


class Applied(NamedTuple):
    """The new document, and the rest of the path."""

    document: str
    rest: str


def apply(document: str, path: str, get: Get) -> Applied | None:
    """The result of the modifier at the start of a path; None if there is no modifier of that name."""
    end = next((place for place, char in enumerate(path) if char in ":|."), len(path))
    modifier = MODIFIERS.get(path[1:end])
    if modifier is None:
        return None
    rest = path[end:]
    argument = ""
    if rest.startswith(":"):
        argument, rest = _argument(rest[1:])
    return Applied(modifier(document, argument, get), rest)


def literal(path: str) -> Applied | None:
    """The literal at the start of a path (`!"text"`, `!true`); None if there is none."""
    text = path[1:]
    if text[:1] and text[0] in '{["+-0123456789':
        end = _literal_end(text)
        return Applied(text[:end], text[end:])
    end = next((place for place, char in enumerate(text) if char in "|."), len(text))
    return Applied(text[:end], text[end:]) if text[:end].lower() in _LITERALS else None


def _literal_end(text: str) -> int:
    """The end of a literal. As in gjson, any first character counts as an opening bracket."""
    return squash_end("{" + text[1:], 0)


def _argument(text: str) -> tuple[str, str]:
    """The argument at the start of a text: a JSON value, or everything up to the next pipe."""
    if text[:1] and text[0] in '{["':
        end = _nested_end(text, 0)
        return text[:end], text[end:]
    place = 0
    while place < len(text) and text[place] != "|":
        place = _nested_end(text, place) if text[place] in '{["(' else place + 1
    return text[:place], text[place:]


def _nested_end(text: str, start: int) -> int:
    return string_end(text, start)[0] if text[start] == '"' else squash_end(text, start)


def _option(argument: str, name: str) -> Result | None:
    found = [value for key, value in items(parse(argument)) if parse(key).string == name] if argument else []
    return found[-1] if found else None


def _flag(argument: str, name: str) -> bool:
    option = _option(argument, name)
    return option is not None and truthy(option)


def _this(document: str, _argument: str, _get: Get) -> str:
    return document


def _valid(document: str, _argument: str, _get: Get) -> str:
    return document if is_valid(document) else ""


def is_valid(document: str) -> bool:
    try:
        gojson.unmarshal(document)
    except Malformed:
        return False
    return True


def _ugly(document: str, _argument: str, _get: Get) -> str:
    return ugly(document)


def _pretty(document: str, argument: str, _get: Get) -> str:
    usual = Layout()
    width = _option(argument, "width")
    layout = Layout(
        width=usual.width if width is None else int(width.number),
        prefix=_blank(_option(argument, "prefix"), usual.prefix),
        indent=_blank(_option(argument, "indent"), usual.indent),
        sort_keys=_flag(argument, "sortKeys"),
    )
    return pretty(document, layout)


def _blank(option: Result | None, usual: str) -> str:
    return usual if option is None else "".join(char for char in option.text if char in _SPACE)


def _reverse(document: str, _argument: str, _get: Get) -> str:
    value = parse(document)
    if value.kind is not Kind.JSON:
        return document
    parts = [f"{key}:{member.raw}" if value.is_object else member.raw for key, member in items(value)]
    return _joined(value, reversed(parts))


def _flatten(document: str, argument: str, _get: Get) -> str:
    value = parse(document)
    if not value.is_array:
        return document
    deep = _flag(argument, "deep")
    return _joined(value, (raw for raw in _flat(value, deep=deep) if raw))


def _flat(value: Result, *, deep: bool) -> Iterator[str]:
    """The elements, with nested arrays replaced by their elements: of one level, or of all."""
    stack = [items(value)]
    while stack:
        _, element = next(stack[-1], ("", NOTHING))
        if not element.exists:
            stack.pop()
        elif not element.is_array:
            yield element.raw.strip()
        elif deep:
            stack.append(items(element))
        else:
            yield element.raw[1:-1].strip()


def _join(document: str, argument: str, _get: Get) -> str:
    value = parse(document)
    if not value.is_array:
        return document
    objects = [element for _, element in items(value) if element.is_object]
    if _flag(argument, "preserve"):
        return "{" + ",".join(element.raw[1:-1] for element in objects) + "}"
    keys: dict[str, str] = {}
    members: dict[str, str] = {}
    for element in objects:
        for key, member in items(element):
            name = parse(key).string
            keys.setdefault(name, key)
            members[name] = member.raw
    return "{" + ",".join(f"{key}:{members[name]}" for name, key in keys.items()) + "}"


def _keys(document: str, _argument: str, _get: Get) -> str:
    value = parse(document)
    return "[" + ",".join(key if value.is_object else "null" for key, _ in items(value)) + "]"


def _values(document: str, _argument: str, _get: Get) -> str:
    value = parse(document)
    return document if value.is_array else "[" + ",".join(member.raw for _, member in items(value)) + "]"


def _to_string(document: str, _argument: str, _get: Get) -> str:
    return gojson.quote(document)


def _from_string(document: str, _argument: str, _get: Get) -> str:
    return parse(document).text if is_valid(document) else ""


def _group(document: str, _argument: str, _get: Get) -> str:
    value = parse(document)
    if not value.is_object:
        return ""
    groups: list[list[str]] = []
    for key, member in items(value):
        if member.is_array:
            for index, (_, element) in enumerate(items(member)):
                if index == len(groups):
                    groups.append([])
                groups[index].append(f"{key}:{element.raw}")
    return "[" + ",".join("{" + ",".join(group) + "}" for group in groups) + "]"


def _dig(document: str, argument: str, get: Get) -> str:
    found: list[str] = []
    stack = [parse(document)]
    while stack:
        value = stack.pop()
        result = get(value.raw, argument)
        if result.exists:
            found.append(result.raw)
        if value.kind is Kind.JSON:
            stack.extend(reversed([member for _, member in items(value)]))
    return "[" + ",".join(found) + "]"


def _joined(value: Result, parts: Iterable[str]) -> str:
    opening, closing = "[]" if value.is_array else "{}"
    return opening + ",".join(parts) + closing


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
