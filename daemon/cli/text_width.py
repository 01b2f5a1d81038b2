"""How wide text is on a terminal, and the same text cut or wrapped to a width.

It counts columns as terminals do: two for wide characters (Chinese, most emoji), none for combining marks.
The text has passed `printable`, so the only escape sequences in it are our own colours, which take no column.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal
from unicodedata import category, east_asian_width

ELLIPSIS: Final = "…"
_WORTH: Final = 10
"""So many columns are worth to begin a long word in."""
_PIECES: Final = r"(?s)\x1b\[[0-9;]*m|."
_FIRST_MARK: Final = "\u0300"
"""All printable characters before it take one column."""
_EMOJI_STYLE: Final = "\ufe0f"
_JOINING_JAMO: Final = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))
"""Vowels and final consonants of Hangul, which join the syllable before them."""

Side = Literal["start", "middle", "end"]


def width_of(text: str) -> int:
    """The columns that the text takes."""
    if _is_plain(text):
        return len(text)
    return sum(width for _, width in _clusters(text))


def _is_plain(text: str) -> bool:
    """Whether each character takes one column."""
    return text.isascii() and "\x1b" not in text


def cut(text: str, width: int, side: Side = "end") -> str:
    """The text in at most so many columns; an ellipsis stands for what is left out, on that side."""
    if width_of(text) <= width:
        return text
    room = width - 1
    if side == "end":
        return _head(text, room) + ELLIPSIS
    if side == "start":
        return ELLIPSIS + _tail(text, room)
    return _head(text, room - room // 2) + ELLIPSIS + _tail(text, room // 2)


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most so many columns (two at least); a longer word is broken."""
    first, *words = text.split(" ")
    *lines, line = _broken(first, width)
    taken = width_of(line)
    for word in words:
        wide = width_of(word)
        if taken + 1 + wide <= width:
            line, taken = f"{line} {word}", taken + 1 + wide
            continue
        if wide > width and taken + _WORTH <= width:  # it is broken anyway, so no line stays short for it
            *full, line = _broken(word, width, f"{line} ")
        else:
            lines.append(line)
            *full, line = _broken(word, width)
        lines += full
        taken = width_of(line)
    return [*lines, line]


def _broken(word: str, width: int, line: str = "") -> Iterator[str]:
    """The word in lines of at most so many columns, after what is on the first one."""
    taken = width_of(line)
    for piece, wide in _clusters(word):
        if line and taken + wide > width:
            yield line
            line, taken = "", 0
        line, taken = line + piece, taken + wide
    yield line


def _head(text: str, room: int) -> str:
    if _is_plain(text):
        return text[:room]
    kept: list[str] = []
    for piece, wide in _clusters(text):
        room -= wide
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept)


def _tail(text: str, room: int) -> str:
    if _is_plain(text):
        return text[len(text) - room :]
    kept: list[str] = []
    for piece, wide in reversed([*_clusters(text)]):
        room -= wide
        if room < 0:
            break
        kept.append(piece)
    return "".join(reversed(kept))


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """What a terminal shows as one character, with the columns it takes: marks go with what they mark."""
    held, width = "", 0
    for found in re.finditer(_PIECES, text):
        each = found[0]
        wide = _width(each)
        if wide and width:
            yield held, width
            held, width = "", 0
        held += each
        width = 2 if width == 1 and each == _EMOJI_STYLE else width + wide
    if held:
        yield held, width


def _width(character: str) -> int:
    if len(character) > 1:  # a colour
        return 0
    if character < _FIRST_MARK:
        return 1
    if category(character) in {"Mn", "Me"} or any(ord(character) in each for each in _JOINING_JAMO):
        return 0
    return 2 if east_asian_width(character) in {"W", "F"} else 1
