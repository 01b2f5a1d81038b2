"""Property paths of Pulumi: `db.password`, `hosts[0]`, `tls["ca.crt"]`; and changes of a definition at one.

https://www.pulumi.com/docs/esc/environments/syntax/
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.errors import Malformed

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


def at(value: Json, path: Path) -> Json | Absent:
    """The value at a path."""
    for part in path:
        inner = _inner(value, part)
        if isinstance(inner, Absent):
            return ABSENT
        value = inner
    return value


def _inner(value: Json, part: str | int) -> Json | Absent:
    if is_object(value) and isinstance(part, str):
        return value.get(part, ABSENT)
    if is_list(value) and isinstance(part, int):
        return value[part] if part < len(value) else ABSENT
    return ABSENT


def put(values: dict[str, Json], path: Path, value: Json) -> bool:
    """Set what is at a path, with the objects that lead there; True.

    Raises Malformed where there is another thing.
    """
    *way, last = path
    inner: Any = values
    for part in way:
        found = _inner(inner, part)
        if isinstance(found, Absent) and is_object(inner) and isinstance(part, str):
            found = inner[part] = {}
        inner = cast("Json", None if isinstance(found, Absent) else found)
    if _is_plain(inner) and isinstance(last, str):
        cast("dict[str, Json]", inner)[last] = value
    elif is_list(inner) and isinstance(last, int) and last < len(inner):
        inner[last] = value
    else:
        raise Malformed("the path leads through a value that is no object", hint="choose another remoteKey")
    return True


def remove(values: dict[str, Json], path: Path) -> bool:
    """Remove what is at a path, and the objects that are empty then; whether there was something."""
    *way, last = path
    inner = at(values, way)
    if not is_object(inner) or not isinstance(last, str) or last not in inner:
        return False
    del inner[last]
    return not way or inner != {} or remove(values, way)


def _is_plain(value: Json) -> bool:
    """Whether it is an object of the definition, and no function such as `fn::secret`."""
    return is_object(value) and not any(name.startswith("fn::") for name in value)
