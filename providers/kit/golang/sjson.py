r"""Sets and removes a property of a JSON value, by paths of github.com/tidwall/sjson.

`a.b` is a member of a member, `a\.b` one member with a dot, `list.0` an item, `list.-1` a new item at the
end, `:0` a member whose name is a number. All other parts of the document keep their exact text.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work

_PART: Final = re.compile(r"((?:\\.|[^.\\])*)(?:\.|\\?\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_SEARCHES: Final = re.compile(r"(?<!\\)[|#@*?]")
_APPEND: Final = "-1"
_PLACE: Final = re.compile(r"[0-9]{1,18}")
_LONGEST: Final = 10_000
"""The longest list that one path may create; a greater index is a typo."""


class Part(NamedTuple):
    """One part of a path: the name of a member, or a place in a list."""

    name: str
    forced: bool

    @property
    def place(self) -> int | None:
        """The index in a list; -1 for a new item at the end."""
        if self.forced or not (self.name == _APPEND or _PLACE.fullmatch(self.name)):
            return None
        return int(self.name)


def put(document: bytes, path: str, value: bytes, work: Work) -> bytes:
    """The document with this property, as a string. An empty document becomes an object.

    The document is unchanged if the property has this value already. Raises Malformed.
    """
    source = gojson.text(document)
    new = gojson.quote(gojson.text(value), work)
    parts = split(path)
    old = _get(source, parts, work)
    if old is not None and old.startswith('"') and gojson.unmarshal(old, work) == gojson.unmarshal(new, work):
        return document  # byte for byte, so that no write is needed
    return _put(source, parts, new, work).encode("utf-8", "surrogateescape")


def remove(document: bytes, path: str, work: Work) -> bytes | None:
    """The document without this property; None if nothing is left. Raises Malformed."""
    source = gojson.text(document)
    parts = split(path)
    if _get(source, parts, work) is None:
        return document
    remaining = _remove(source, parts, work)
    return (
        remaining.encode("utf-8", "surrogateescape")
        if gojson.unmarshal(remaining, work, keep_numbers=True)
        else None
    )


def has(document: bytes, path: str, work: Work) -> bool:
    """Whether the document is JSON that has this property."""
    try:
        return _get(gojson.text(document), split(path), work) is not None
    except Malformed:
        return False


def split(path: str) -> list[Part]:
    """The parts of a path. Raises Malformed for one that is a query, or too deep."""
    if _SEARCHES.search(path):
        raise Malformed(
            "the property is a query, and not the path of one member",
            hint="in a property that is pushed, write a backslash before each of | # @ * ?",
        )
    parts: list[Part] = []
    position = 0
    while position < len(path):
        found = _PART.match(path, position)
        if found is None:
            raise AssertionError("a part may be empty, and so always matches")
        text = found[1]
        if len(parts) == gojson.DEEPEST:
            raise Malformed("the property leads too deep", hint="use a shorter path")
        parts.append(Part(_ESCAPE.sub(r"\1", text.removeprefix(":")), text.startswith(":")))
        position = found.end()
    return parts


def _get(source: str, parts: Sequence[Part], work: Work) -> str | None:
    for part in parts:
        if not source.strip():
            return None
        if _is_list(source):
            items, place = gojson.raw_items(source, work), part.place
            if place is None or not 0 <= place < len(items):
                return None
            source = items[place]
        elif source.lstrip().startswith("{"):
            fields = gojson.raw_fields(source, work)
            if part.name not in fields:
                return None
            source = fields[part.name]
        else:
            return None
    return source


def _put(source: str, parts: Sequence[Part], value: str, work: Work) -> str:
    if not parts:
        return value
    part, rest = parts[0], parts[1:]
    empty = not source.strip()
    if _is_list(source) or (empty and part.place is not None):
        items = [] if empty else gojson.raw_items(source, work)
        place = _place(part, len(items))
        items += ["null"] * (place - len(items))
        items[place : place + 1] = [_put(items[place] if place < len(items) else "", rest, value, work)]
        return _list(items, work)
    if not empty and not source.lstrip().startswith("{"):
        raise Malformed(
            "a property can be put only into a JSON object or list",
            hint="leave the property out, or push to another remoteKey",
        )
    fields = {} if empty else gojson.raw_fields(source, work)
    fields[part.name] = _put(fields.get(part.name, ""), rest, value, work)
    return _object(fields, work)


def _place(part: Part, length: int) -> int:
    index = part.place
    if index is None or index > _LONGEST:
        raise Malformed("the property is not an index of a list", hint="write a number, or -1 for a new item")
    return length if index < 0 else index


def _remove(source: str, parts: Sequence[Part], work: Work) -> str:
    part, rest = parts[0], parts[1:]
    if _is_list(source):
        items, place = gojson.raw_items(source, work), _place(part, 0)
        items[place : place + 1] = [_remove(items[place], rest, work)] if rest else []
        return _list(items, work)
    fields = gojson.raw_fields(source, work)
    if rest:
        fields[part.name] = _remove(fields[part.name], rest, work)
    else:
        del fields[part.name]
    return _object(fields, work)


def _is_list(source: str) -> bool:
    return source.lstrip().startswith("[")


def _list(items: Sequence[str], work: Work) -> str:
    return f"[{gojson.joined(items, work)}]"


def _object(fields: Mapping[str, str], work: Work) -> str:
    members = [f"{gojson.quote(name, work, escape_html=False)}:{raw}" for name, raw in fields.items()]
    return "{" + gojson.joined(members, work) + "}"
