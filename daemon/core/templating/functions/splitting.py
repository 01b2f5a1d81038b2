"""Splits and joins texts: split, splitList, splitn, join, toStrings, sortAlpha."""

from typing import Final, cast

from syncret.daemon.core.templating import gotypes
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text import from_view, normal, size_of, views
from syncret.daemon.core.templating.functions.text_of_values import strval
from syncret.daemon.core.templating.gotypes import Kind
from syncret.daemon.core.templating.values import (
    TypedList,
    TypedMap,
    Value,
    bytes_of,
    string_map,
    strings,
    type_of,
)

_PART_SIZE: Final = 16
"""About what one more part takes, its text apart."""


def _parts(context: Context, separator: str, text: str, limit: int = -1) -> list[str]:
    """At most `limit` parts, the last one with all the rest; 0 means none, a negative limit all."""
    if limit == 0:
        return []
    if not separator:
        text = normal(text)
        context.budget.allocate(len(text) * _PART_SIZE)
        if limit < 0 or limit >= len(text):
            return list(text)
        return [*text[: limit - 1], text[limit - 1 :]]
    bytewise = views(separator, text)
    separator, text = bytewise or (separator, text)
    context.budget.allocate(text.count(separator) * _PART_SIZE)
    parts = text.split(separator, limit - 1 if limit > 0 else -1)
    return [from_view(part) for part in parts] if bytewise else parts


def split(context: Context, separator: str, text: str) -> TypedMap:
    return _numbered(_parts(context, separator, text))


def splitn(context: Context, separator: str, limit: int, text: str) -> TypedMap:
    return _numbered(_parts(context, separator, text, limit))


def _numbered(parts: list[str]) -> TypedMap:
    return string_map({f"_{number}": part for number, part in enumerate(parts)})


def split_list(context: Context, separator: str, text: str) -> TypedList:
    return strings(_parts(context, separator, text))


def string_list(context: Context, value: Value) -> list[str]:
    """Every member as text, nil left out; a single value is a list of one."""
    match value:
        case None:
            return []
        case bytes():
            return [str(byte) for byte in value]
        case list():
            members = cast("list[Value]", value)
            context.budget.charge(len(members))
            return [strval(context, member) for member in members if member is not None]
        case _:
            return [strval(context, value)]


def to_strings(context: Context, value: Value) -> TypedList:
    return strings(string_list(context, value))


def join(context: Context, separator: str, value: Value) -> str:
    texts = string_list(context, value)
    context.budget.allocate(size_of(separator) * len(texts))
    return separator.join(texts)


def sort_alpha(context: Context, value: Value) -> TypedList:
    if isinstance(value, TypedList) and value.go_type == gotypes.STRINGS:
        # Go sorts this kind of list in place.
        cast("list[str]", value).sort(key=bytes_of)
        return value
    is_list = type_of(value).kind is Kind.SLICE
    texts = string_list(context, value) if is_list else [strval(context, value)]
    return strings(sorted(texts, key=bytes_of))


FUNCTIONS: Final[FunctionTable] = table(
    {
        "join": join,
        "sortAlpha": sort_alpha,
        "split": split,
        "splitList": split_list,
        "splitn": splitn,
        "toStrings": to_strings,
    }
)
