"""Property paths of Pulumi: `db.password`, `hosts[0]`, `tls["ca.crt"]`.

https://www.pulumi.com/docs/esc/environments/syntax/
"""

import json
import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import sjson

Path: TypeAlias = Sequence[str | int]

_PART: Final = re.compile(
    r'(?:(?:^|(?<=.)\.)(?P<name>[^.\[\]"]+)|\[(?P<index>[0-9]{1,9})\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\])'
)


def parsed(text: str) -> Path:
    """The parts of a path. Raises Malformed."""
    parts: list[str | int] = []
    place = 0
    while place < len(text) or not parts:
        found = _PART.match(text, place)
        if found is None:
            raise _bad(text)
        parts.append(_part(found, text))
        place = found.end()
    return parts


def _part(found: "re.Match[str]", text: str) -> str | int:
    if found["name"]:
        return found["name"]
    if found["index"]:
        return int(found["index"])
    try:
        return str(json.loads(found["quoted"]))
    except ValueError:
        raise _bad(text) from None


def _bad(text: str) -> Malformed:
    hint = 'write names with dots between them, as in db.password, hosts[0] or tls["ca.crt"]'
    return Malformed(f"{text!r} is no path of a property", hint=hint)


class Absent:
    """The result of a path that leads nowhere."""


ABSENT: Final = Absent()


def at(value: Json | Absent, path: Path) -> Json | Absent:
    """The value at a path."""
    for part in path:
        inner = _inner(value, part)
        if isinstance(inner, Absent):
            return ABSENT
        value = inner
    return value


def within(value: Json, name: str) -> Path:
    """The path of a property within an object or a list, as a push into JSON text has it.

    If it leads nowhere, a member with exactly this name is meant, as in reads. Raises Malformed.
    """
    parts: list[str | int] = []
    found: Json | Absent = value
    for part in sjson.split(name):
        place = None if is_object(found) else part.place
        parts.append(part.name if place is None else place)
        found = at(found, parts[-1:])
    is_one_name = isinstance(found, Absent) and is_object(value) and name in value
    return [name] if is_one_name else parts


def _inner(value: Json | Absent, part: str | int) -> Json | Absent:
    if is_object(value) and isinstance(part, str):
        return value.get(part, ABSENT)
    if is_list(value) and isinstance(part, int):
        return value[part] if 0 <= part < len(value) else ABSENT
    return ABSENT
