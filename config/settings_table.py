"""Lists settings with their documentation, those of nested groups by dotted names (`webhook.port`)."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from syncret.config.durations import format_duration
from syncret.config.fields import Json
from syncret.config.settings import Group, Settings

PREFIX: Final = "SYNCRET_"
_PLAIN: Final = re.compile(r"[\w./-]+")

TypeForm: TypeAlias = Any
"""An annotated type, as msgspec accepts it."""


class Setting(NamedTuple):
    """The documentation of one setting: `default` is written as in YAML, `syntax` is what may be written."""

    name: str
    """Dotted if the setting is in a group."""
    attribute: str
    variable: str
    syntax: str
    default: str
    meaning: str
    type: TypeForm

    @property
    def is_list(self) -> bool:
        return get_origin(get_args(self.type)[0]) is tuple

    @property
    def is_map(self) -> bool:
        """Whether each entry may be set alone: `NAME.KEY`, `VARIABLE_KEY`."""
        return get_origin(get_args(self.type)[0]) is dict


@lru_cache(maxsize=8)
def describe(group: type[Group] = Settings) -> tuple[Setting, ...]:
    """Every setting of a group and of the groups in it, in the order of the classes."""
    return tuple(_described(group, "", ""))


def _described(group: type[Group], name: str, attribute: str) -> Iterator[Setting]:
    hints = get_type_hints(group, include_extras=True)
    for field in msgspec.structs.fields(group):
        hint = hints[field.name]
        at = f"{attribute}{field.name}"
        default: Json = field.default
        if isinstance(default, Group):
            yield from _described(type(default), f"{name}{field.encode_name}.", f"{at}.")
            continue
        yield Setting(
            name=f"{name}{field.encode_name}",
            attribute=at,
            variable=PREFIX + at.upper().replace(".", "_"),
            syntax=_syntax(hint),
            default=_written(hint, {} if default is msgspec.NODEFAULT else default),
            meaning=" ".join(meta.description for meta in _metas(hint) if meta.description),
            type=hint,
        )


def _syntax(hint: TypeForm) -> str:
    """The syntax of a type: duration, mode, paths, list, text, number, true or false, or the choices."""
    for meta in _metas(hint):
        if meta.extra and "form" in meta.extra:
            return str(meta.extra["form"])
    bare = get_args(hint)[0]
    if get_origin(bare) is Literal:
        return ", ".join(get_args(bare))
    if get_origin(bare) is tuple:
        element = get_args(bare)[0]
        return f"list of {', '.join(get_args(element))}" if get_origin(element) is Literal else "list"
    return {bool: "true or false", int: "whole number", float: "number", str: "text"}[bare]


def _metas(hint: TypeForm) -> Iterator[Meta]:
    for part in get_args(hint)[1:]:
        if isinstance(part, Meta):
            yield part


def _written(hint: TypeForm, default: Json) -> str:
    form = _syntax(hint)
    if form == "mode":
        return f'"{default:04o}"'
    if form == "duration":
        return format_duration(default)
    if isinstance(default, bool):
        return str(default).lower()
    if get_origin(get_args(hint)[0]) is tuple:
        return f"[{', '.join(map(_scalar, default))}]"
    return str(default) if default != "" else '""'


def _scalar(value: Json) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else f'"{text}"'
