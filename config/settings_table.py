"""Lists settings with their documentation, those of nested groups by dotted names (`webhook.port`)."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta

from syncret.config.durations import format_duration
from syncret.config.fields import Json
from syncret.config.settings import Group, Settings
from syncret.config.text.yaml import to_flow

if TYPE_CHECKING:
    from syncret.config.schema.docstrings import Description

PREFIX: Final = "SYNCRET_"
_PLAIN: Final = re.compile(r"[\w./-]+")

StructType: TypeAlias = type[msgspec.Struct]
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
    group: type[Group]
    """The class that it is a field of."""
    type: TypeForm

    @property
    def meaning(self) -> str:
        """The docstring below the setting, as one paragraph; its source is parsed on first use."""
        return self._description().text

    @property
    def example(self) -> str:
        """A value, written as in YAML; where the type has few, another one than the default."""
        given = self._description().example
        if given is not msgspec.UNSET:
            return to_flow(given)
        return next((each for each in _choices(plain(self.type)) if each != self.default), "")

    @property
    def objects(self) -> tuple[StructType, ...]:
        """The classes of the objects that may stand in it, in a list or a map."""
        return tuple(_structs(self.type))

    def _description(self) -> "Description":
        from syncret.config.schema.docstrings import Description, described  # only for documentation

        return described(self.group).fields.get(self.name.rpartition(".")[2], Description())

    @property
    def is_list(self) -> bool:
        return _origin(self.type) is tuple

    @property
    def is_map(self) -> bool:
        """Whether each entry may be set alone: `NAME.KEY`, `VARIABLE_KEY`."""
        return _origin(self.type) is dict


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
            group=group,
            type=hint,
        )


def plain(hint: TypeForm) -> TypeForm:
    """A type without its annotations."""
    return get_args(hint)[0] if hasattr(hint, "__metadata__") else hint


def _origin(hint: TypeForm) -> TypeForm:
    return get_origin(plain(hint))


def _structs(hint: TypeForm) -> Iterator[StructType]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for part in get_args(hint):
        yield from _structs(part)


def _choices(bare: TypeForm) -> tuple[str, ...]:
    if bare is bool:
        return ("true", "false")
    return get_args(bare) if _origin(bare) is Literal else ()


def _syntax(hint: TypeForm) -> str:
    """The syntax of a type: duration, mode, paths, list, text, number, true or false, or the choices."""
    for meta in getattr(hint, "__metadata__", ()):
        if isinstance(meta, Meta) and meta.extra and "form" in meta.extra:
            return str(meta.extra["form"])
    bare = plain(hint)
    if _origin(bare) is Literal:
        return ", ".join(get_args(bare))
    if _origin(bare) is tuple:
        element = get_args(bare)[0]
        return f"list of {', '.join(get_args(element))}" if get_origin(element) is Literal else "list"
    return {bool: "true or false", int: "whole number", float: "number", str: "text"}[bare]


_MARKS: Final = "{}[]"
"""First characters of a text that YAML would not read as one."""


def _written(hint: TypeForm, default: Json) -> str:
    form = _syntax(hint)
    if form == "mode":
        return f'"{default:04o}"'
    if form == "duration":
        return format_duration(default)
    if isinstance(default, bool):
        return str(default).lower()
    if _origin(hint) is tuple:
        return f"[{', '.join(map(_scalar, default))}]"
    if isinstance(default, str) and (not default or default[0] in _MARKS):
        return f'"{default}"'
    return str(default)


def _scalar(value: Json) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else f'"{text}"'
