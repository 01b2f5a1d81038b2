"""Strings: toString, quote, trim, replace, contains, substr, split, join, sortAlpha and others."""

from typing import Final, cast

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text.layout import (
    SPACE,
    cut,
    from_view,
    has_stray_bytes,
    normal,
    runes,
    size_of,
    views,
)
from syncret.daemon.core.templating.golang import printf, types
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.literals import quote as go_quote
from syncret.daemon.core.templating.golang.types import Kind
from syncret.daemon.core.templating.golang.values import (
    GoObject,
    NamedInteger,
    TypedList,
    TypedMap,
    Value,
    bytes_of,
    string_map,
    strings,
    text_of,
    type_of,
)

_PART_SIZE: Final = 64
_NUMBERED_SIZE: Final = 160
"""Approximate sizes of a part besides its text, and of a name for it."""

_CHARACTERS_A_STEP: Final = 2
_NO_SPACE: Final = dict.fromkeys(map(ord, SPACE))

_OUT_OF_RANGE: Final = "slice bounds out of range"


def strval(context: Context, value: Value) -> str:
    """The value as text: strings and bytes as they are, anything else as Go prints it."""
    match value:
        case str():
            return value
        case bytes():
            return text_of(value)
        case GoObject() | NamedInteger():
            return value.text()
        case _:
            return printf.sprint(value, context.budget)


def quote(context: Context, *values: Value) -> str:
    """Each value in double quotes and escaped; nil is left out."""
    return " ".join(_quoted(context, strval(context, value)) for value in values if value is not None)


def _quoted(context: Context, text: str) -> str:
    context.budget.look_at_each(text)
    return go_quote(normal(text))


def squote(context: Context, *values: Value) -> str:
    """Each value in single quotes, not escaped; nil is left out."""
    return " ".join(f"'{printf.sprint(value, context.budget)}'" for value in values if value is not None)


def cat(context: Context, *values: Value) -> str:
    return " ".join(printf.sprint(value, context.budget) for value in values if value is not None)


def hello() -> str:
    return "Hello!"


def trim(text: str) -> str:
    return text.strip(SPACE)


def trim_all(cutset: str, text: str) -> str:
    if not has_stray_bytes(cutset) and not has_stray_bytes(text):
        return text.strip(cutset) if cutset else text
    # Go compares runes: a stray byte in the cutset matches every stray byte.
    members = set(runes(cutset))
    text = normal(text)
    seen = runes(text)
    start, end = 0, len(seen)
    while start < end and seen[start] in members:
        start += 1
    while start < end and seen[end - 1] in members:
        end -= 1
    return text[start:end]


def trim_suffix(suffix: str, text: str) -> str:
    if bytewise := views(suffix, text):
        return from_view(bytewise[1].removesuffix(bytewise[0]))
    return text.removesuffix(suffix)


def trim_prefix(prefix: str, text: str) -> str:
    if bytewise := views(prefix, text):
        return from_view(bytewise[1].removeprefix(bytewise[0]))
    return text.removeprefix(prefix)


def nospace(context: Context, text: str) -> str:
    # The library reads bytes as Latin-1, and writes them so if it deletes anything.
    context.budget.look_at_each(text)
    view = bytes_of(text).decode("latin-1")
    kept = view.translate(_NO_SPACE)
    return text if len(kept) == len(view) else kept


def initials(context: Context, text: str) -> str:
    context.budget.step(len(text) // _CHARACTERS_A_STEP)
    view = bytes_of(text).decode("latin-1")
    previous = " "
    found: list[str] = []
    for char in view:
        if previous in SPACE and char not in SPACE:
            found.append(char)
        previous = char
    return "".join(found)


def contains(part: str, text: str) -> bool:
    if bytewise := views(part, text):
        return bytewise[0] in bytewise[1]
    return part in text


def has_prefix(prefix: str, text: str) -> bool:
    if bytewise := views(prefix, text):
        return bytewise[1].startswith(bytewise[0])
    return text.startswith(prefix)


def has_suffix(suffix: str, text: str) -> bool:
    if bytewise := views(suffix, text):
        return bytewise[1].endswith(bytewise[0])
    return text.endswith(suffix)


def replace(context: Context, old: str, new: str, text: str) -> str:
    bytewise = views(old, text) if old else None
    if bytewise:
        context.budget.make(len(bytewise[1]) + bytewise[1].count(bytewise[0]) * size_of(new))
        return from_view(bytewise[1].replace(bytewise[0], bytes_of(new).decode("latin-1")))
    text = normal(text)
    context.budget.make(size_of(text) + text.count(old) * size_of(new))
    return text.replace(old, new)


def repeat(context: Context, count: int, text: str) -> str:
    if count < 0:
        raise FunctionError("the count is negative")
    context.budget.make(size_of(text) * count)
    return text * count


def trunc(count: int, text: str) -> str:
    size = size_of(text)
    if count < 0 and size + count > 0:
        return cut(text, size + count, size)
    return cut(text, 0, count) if 0 <= count < size else text


def substr(start: int, end: int, text: str) -> str:
    size = size_of(text)
    if start < 0:
        start = 0
    elif end < 0 or end > size:
        end = size
    if not 0 <= start <= end <= size:
        raise FunctionError(_OUT_OF_RANGE)
    return cut(text, start, end)


def plural(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


def split(context: Context, separator: str, text: str) -> TypedMap:
    return _numbered(context, _parts(context, separator, text))


def splitn(context: Context, separator: str, limit: int, text: str) -> TypedMap:
    return _numbered(context, _parts(context, separator, text, limit))


def _numbered(context: Context, parts: list[str]) -> TypedMap:
    context.budget.make(len(parts) * _NUMBERED_SIZE)
    return string_map({f"_{number}": part for number, part in enumerate(parts)})


def split_list(context: Context, separator: str, text: str) -> TypedList:
    return strings(_parts(context, separator, text))


def _parts(context: Context, separator: str, text: str, limit: int = -1) -> list[str]:
    """Split into at most `limit` parts, the last one with the rest; 0 means none, a negative limit all."""
    if limit == 0:
        return []
    if not separator:
        text = normal(text)
        context.budget.make(len(text) * _PART_SIZE)
        if limit < 0 or limit >= len(text):
            return list(text)
        return [*text[: limit - 1], text[limit - 1 :]]
    bytewise = views(separator, text)
    separator, text = bytewise or (separator, text)
    context.budget.make(text.count(separator) * _PART_SIZE)
    parts = text.split(separator, limit - 1 if limit > 0 else -1)
    return [from_view(part) for part in parts] if bytewise else parts


def join(context: Context, separator: str, value: Value) -> str:
    texts = string_list(context, value)
    context.budget.make(size_of(separator) * len(texts))
    return separator.join(texts)


def to_strings(context: Context, value: Value) -> TypedList:
    return strings(string_list(context, value))


def string_list(context: Context, value: Value) -> list[str]:
    """Every member as text without nil; another value is a list of one."""
    match value:
        case None:
            return []
        case bytes():
            return [str(byte) for byte in value]
        case list():
            members = cast("list[Value]", value)
            context.budget.step(len(members))
            return [strval(context, member) for member in members if member is not None]
        case _:
            return [strval(context, value)]


def sort_alpha(context: Context, value: Value) -> TypedList:
    if isinstance(value, TypedList) and value.go_type == types.STRINGS:
        # Go sorts this kind of list in place.
        cast("list[str]", value).sort(key=bytes_of)
        return value
    is_list = type_of(value).kind is Kind.SLICE
    texts = string_list(context, value) if is_list else [strval(context, value)]
    return strings(sorted(texts, key=bytes_of))


FUNCTIONS: Final[FunctionTable] = table(
    {
        "cat": cat,
        "contains": contains,
        "hasPrefix": has_prefix,
        "hasSuffix": has_suffix,
        "hello": hello,
        "initials": initials,
        "join": join,
        "nospace": nospace,
        "plural": plural,
        "quote": quote,
        "repeat": repeat,
        "replace": replace,
        "sortAlpha": sort_alpha,
        "split": split,
        "splitList": split_list,
        "splitn": splitn,
        "squote": squote,
        "substr": substr,
        "toString": strval,
        "toStrings": to_strings,
        "trim": trim,
        "trimAll": trim_all,
        "trimPrefix": trim_prefix,
        "trimSuffix": trim_suffix,
        "trimall": trim_all,
        "trunc": trunc,
    }
)
