"""The two layouts of JSON that paths can ask for: `@ugly` without white space, `@pretty` for people."""

import re
from typing import Final, NamedTuple

from syncret.providers.kit.gjson.scan import Kind, Result, items, parse

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[^\x00-\x20"]+', re.DOTALL)
_LEAST_LINE: Final = 3
MAX_DEPTH: Final = 100


class Layout(NamedTuple):
    """How wide a line may be for an array to stay on it, and what stands before each line and level."""

    width: int = 80
    prefix: str = ""
    indent: str = "  "
    sort_keys: bool = False


def ugly(text: str) -> str:
    """The text without white space outside of strings."""
    return "".join(_TOKEN.findall(text))


def pretty(text: str, layout: Layout) -> str:
    """One member or element a line; an array without objects that fits into the width is one line."""
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
    """The array on one line; None where it holds an object."""
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
