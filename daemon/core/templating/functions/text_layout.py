"""Indenting, wrapping and abbreviating; widths are counted in bytes, as the originals do."""

from typing import Final

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text import cut, size_of
from syncret.daemon.core.templating.values import bytes_of, text_of

_MARK: Final = "..."
_LEAST_WIDTH: Final = 4
_LEAST_WIDTH_WITH_OFFSET: Final = 7
_SHORTEST_OFFSET: Final = 4


def indent(context: Context, spaces: int, text: str) -> str:
    if spaces < 0:
        raise FunctionError("the count is negative")
    context.budget.allocate(size_of(text) + (text.count("\n") + 1) * spaces)
    pad = " " * spaces
    return pad + text.replace("\n", "\n" + pad)


def nindent(context: Context, spaces: int, text: str) -> str:
    return "\n" + indent(context, spaces, text)


def wrap(context: Context, width: int, text: str) -> str:
    return _wrap(context, width, "\n", text, split_words=False)


def wrap_with(context: Context, width: int, separator: str, text: str) -> str:
    return _wrap(context, width, separator or "\n", text, split_words=True)


def _wrap(context: Context, width: int, separator: str, text: str, *, split_words: bool) -> str:
    width = max(width, 1)
    line = bytes_of(text)
    context.budget.allocate(len(line) + len(line) // width * size_of(separator))
    pieces: list[bytes] = []
    start = 0
    while len(line) - start > width:
        if line[start] == ord(" "):
            start += 1
            continue
        end = line.rfind(b" ", start, start + width + 1)
        after = end + 1
        if end < 0 and split_words:
            end = after = start + width
        elif end < 0:
            end = line.find(b" ", start + width)
            if end < 0:
                break
            after = end + 1
        pieces.append(line[start:end])
        start = after
    pieces.append(line[start:])
    return text_of(bytes_of(separator).join(pieces))


def abbrev(width: int, text: str) -> str:
    return text if width < _LEAST_WIDTH else _abbreviate(text, 0, width)


def abbrev_both(left: int, right: int, text: str) -> str:
    if right < _LEAST_WIDTH or (left > 0 and right < _LEAST_WIDTH_WITH_OFFSET):
        return text
    return _abbreviate(text, left, right)


def _abbreviate(text: str, offset: int, width: int) -> str:
    size = size_of(text)
    if size <= width:
        return text
    room = width - len(_MARK)
    offset = min(offset, size)
    if size - offset < room:
        offset = size - room
    if offset <= _SHORTEST_OFFSET:
        return cut(text, 0, room) + _MARK
    if offset + room < size:
        return _MARK + _abbreviate(cut(text, offset, size), 0, room)
    return _MARK + cut(text, size - room, size)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "abbrev": abbrev,
        "abbrevboth": abbrev_both,
        "indent": indent,
        "nindent": nindent,
        "wrap": wrap,
        "wrapWith": wrap_with,
    }
)
