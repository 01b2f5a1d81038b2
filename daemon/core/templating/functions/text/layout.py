"""indent, nindent, wrap, abbrev (widths count bytes, as in Go), and helpers for Go strings.

A Go string may contain bytes that are not UTF-8; the helpers treat them as Go does.
"""

import re
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import bytes_of, text_of
from syncret.providers.work import BYTES_PER_STEP

SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space by Go's unicode.IsSpace; Python's definition is wider."""

REPLACEMENT: Final = "\ufffd"
_STRAY: Final = re.compile("[\ud800-\udfff]")
_MARK: Final = "..."
_LINE_STEPS: Final = 2
_LEAST_WIDTH: Final = 4
_LEAST_WIDTH_WITH_OFFSET: Final = 7
_SHORTEST_OFFSET: Final = 4


def indent(context: Context, spaces: int, text: str) -> str:
    if spaces < 0:
        raise FunctionError("the count is negative")
    context.budget.make(size_of(text) + (text.count("\n") + 1) * spaces)
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
    line, between = bytes_of(text), bytes_of(separator)
    budget = context.budget
    line_cost = _LINE_STEPS + len(between) // BYTES_PER_STEP, len(between)
    budget.make(len(line))
    written = bytearray()
    start = 0
    while len(line) - start > width:
        if line[start] == ord(" "):
            budget.step()
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
        budget.take(*line_cost)
        written += line[start:end]
        written += between
        start = after
    written += line[start:]
    return text_of(bytes(written))


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


def has_stray_bytes(text: str) -> bool:
    """Whether it contains bytes that are not UTF-8."""
    return not text.isascii() and _STRAY.search(text) is not None


def normal(text: str) -> str:
    """The same bytes with each character in one piece, after strings were concatenated."""
    return text_of(bytes_of(text)) if has_stray_bytes(text) else text


def runes(text: str) -> str:
    """The text as Go's []rune: every stray byte is the replacement character."""
    return _STRAY.sub(REPLACEMENT, normal(text)) if has_stray_bytes(text) else text


def size_of(text: str) -> int:
    """Go's len, in bytes."""
    return len(text) if text.isascii() else len(bytes_of(text))


def cut(text: str, start: int, end: int) -> str:
    """Go's text[start:end], in bytes; the bounds must be valid."""
    return text[start:end] if text.isascii() else text_of(bytes_of(text)[start:end])


def views(*texts: str) -> tuple[str, ...] | None:
    """The texts with one character for each byte, for a match that may begin or end inside of a character.

    None if all texts are UTF-8: then that cannot happen, and they can be searched as they are.
    """
    if not any(has_stray_bytes(text) for text in texts):
        return None
    return tuple(bytes_of(text).decode("latin-1") for text in texts)


def from_view(view: str) -> str:
    """The Go string of a view that `views` made."""
    return text_of(view.encode("latin-1"))


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
