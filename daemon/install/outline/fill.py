"""Fills an outline with values, which gives the document."""

import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.meta import is_object
from syncret.daemon.install.outline.nodes import (
    ABSENT,
    SPLICE,
    Call,
    Each,
    File,
    Function,
    Outline,
    Refused,
    Root,
    Spliced,
    Value,
    When,
)

Values = Mapping[Root, Any]
"""What each root stands for."""

_ESCAPES: Final = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def fill(outline: Outline, values: Values) -> Any:  # noqa: ANN401  # whatever the outline describes
    """The document. Raises ConfigError where the outline refuses the values."""
    match outline:
        case Value():
            return _found(outline, values)
        case When():
            return fill(outline.then if fill(outline.test, values) else outline.otherwise, values)
        case Call():
            return _CALLS[outline.function](outline.arguments, values)
        case File():
            return outline.text
        case Refused():
            raise ConfigError([Problem(path=outline.path, message=outline.message, hint=outline.hint)])
        case Mapping():
            return _object(outline, values)
        case list() | tuple():
            return [each for entry in outline for each in _entries(entry, values)]
        case _:
            return outline


def _found(place: Value, values: Values) -> object:
    found = values[place.root]
    for depth, name in enumerate(place.path):
        if not is_object(found):
            raise ConfigError(
                [Problem(path=".".join(place.path[:depth]), message="is no object", hint="leave it out")]
            )
        found = found.get(name)
    return found


def _object(outline: Mapping[str, Outline], values: Values) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, entry in outline.items():
        filled = fill(entry, values)
        if name == SPLICE:
            made |= filled or {}
        elif filled is not ABSENT:
            made[name] = filled
    return made


def _entries(entry: Outline, values: Values) -> Iterator[Any]:
    """What stands in a list for one entry of its outline."""
    match entry:
        case When():
            yield from _entries(entry.then if fill(entry.test, values) else entry.otherwise, values)
        case Spliced():
            yield from fill(entry.entries, values) or ()
        case Each():
            over = fill(entry.over, values) or ()
            pairs = sorted(over.items()) if is_object(over) else enumerate(over)
            for key, value in pairs:
                yield from _entries(entry.body, {**values, entry.key: key, entry.value: value})
        case _ if entry is not ABSENT:
            yield fill(entry, values)
        case _:
            pass


def as_json(value: object) -> str:
    """JSON as Go writes it."""
    written = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return written.translate(_ESCAPES)


_Call = Callable[[Sequence[Outline], Values], Any]


def _lazily(choose: Callable[[Iterator[Any]], Any]) -> _Call:
    return lambda arguments, values: choose(fill(each, values) for each in arguments)


def _eagerly(function: Callable[..., Any]) -> _Call:
    return lambda arguments, values: function(*(fill(each, values) for each in arguments))


def _first(values: Iterator[Any]) -> object:
    found = None
    for found in values:
        if found:
            break
    return found


def _merged(*maps: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for each in maps for name, value in (each or {}).items()}


def _omitted(map_: Mapping[str, Any] | None, *keys: str) -> dict[str, Any]:
    return {name: value for name, value in (map_ or {}).items() if name not in keys}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else as_json(value)


def _item(map_: Mapping[str, Any] | None, key: str) -> object:
    return (map_ or {}).get(key, "")


def _more(number: int | None, than: int) -> bool:
    return (number or 0) > than


def _truncated(value: str, length: int) -> str:
    return value[:length].removesuffix("-")


def _text(*parts: str) -> str:
    return "".join(parts)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _has(list_: Sequence[str] | None, element: str) -> bool:
    return element in (list_ or ())


def _pair(key: str, value: object) -> dict[str, Any]:
    return {key: value}


def _present(value: object) -> bool:
    return value is not None


_CALLS: Final[dict[Function, _Call]] = {
    "all": _lazily(all),
    "any": _lazily(any),
    "api": _eagerly(operator.contains),
    "as text": _eagerly(_as_text),
    "contains": _eagerly(operator.contains),
    "equal": _eagerly(operator.eq),
    "first": _lazily(_first),
    "has": _eagerly(_has),
    "is": _eagerly(bool),
    "is text": _eagerly(_is_text),
    "item": _eagerly(_item),
    "json": _eagerly(as_json),
    "merged": _eagerly(_merged),
    "more": _eagerly(_more),
    "not": _eagerly(operator.not_),
    "omit": _eagerly(_omitted),
    "pair": _eagerly(_pair),
    "present": _eagerly(_present),
    "text": _eagerly(_text),
    "trunc": _eagerly(_truncated),
}
