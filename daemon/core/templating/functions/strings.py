"""Searching, trimming, cutting and replacing: whatever does not depend on letter case."""

from typing import Final

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text import (
    SPACE,
    cut,
    from_view,
    has_stray_bytes,
    normal,
    runes,
    size_of,
    views,
)
from syncret.daemon.core.templating.values import bytes_of

_OUT_OF_RANGE: Final = "slice bounds out of range"


def hello() -> str:
    return "Hello!"


def trim(text: str) -> str:
    return text.strip(SPACE)


def trim_all(cutset: str, text: str) -> str:
    if not has_stray_bytes(cutset) and not has_stray_bytes(text):
        return text.strip(cutset) if cutset else text
    # Go compares runes: any stray byte of the set stands for every stray byte.
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


def nospace(text: str) -> str:
    # The library reads bytes as characters of Latin-1, and writes them so, once there is something to delete.
    view = bytes_of(text).decode("latin-1")
    kept = "".join(char for char in view if char not in SPACE)
    return text if len(kept) == len(view) else kept


def initials(text: str) -> str:
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
        context.budget.allocate(len(bytewise[1]) + bytewise[1].count(bytewise[0]) * size_of(new))
        return from_view(bytewise[1].replace(bytewise[0], bytes_of(new).decode("latin-1")))
    text = normal(text)
    context.budget.allocate(size_of(text) + text.count(old) * size_of(new))
    return text.replace(old, new)


def repeat(context: Context, count: int, text: str) -> str:
    if count < 0:
        raise FunctionError("the count is negative")
    context.budget.allocate(size_of(text) * count)
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


FUNCTIONS: Final[FunctionTable] = table(
    {
        "contains": contains,
        "hasPrefix": has_prefix,
        "hasSuffix": has_suffix,
        "hello": hello,
        "initials": initials,
        "nospace": nospace,
        "plural": plural,
        "repeat": repeat,
        "replace": replace,
        "substr": substr,
        "trim": trim,
        "trimAll": trim_all,
        "trimPrefix": trim_prefix,
        "trimSuffix": trim_suffix,
        "trimall": trim_all,
        "trunc": trunc,
    }
)
