"""camelcase, snakecase and kebabcase, with the word boundaries of ESO's library."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from typing import Final

from syncret.daemon.core.templating.functions.contract import FunctionTable, table
from syncret.daemon.core.templating.functions.text.casing import is_letter, is_upper, to_lower, to_upper
from syncret.daemon.core.templating.functions.text.layout import REPLACEMENT, SPACE, normal, runes


def _connects(char: str) -> bool:
    return char in "-_" or char in SPACE


def camelcase(text: str) -> str:
    """Capitalize every word; connectors at the start, and all but the last of several, are kept."""
    chars = runes(text)
    start = next((place for place, char in enumerate(chars) if not _connects(char)), len(chars))
    if start == len(chars):
        return chars + chars[-1:]  # the library writes the last connector twice
    written = [chars[:start]]
    previous = to_upper(chars[start])
    in_capitals = is_upper(chars[start])
    for char in chars[start + 1 :]:
        current = char
        if _connects(previous) and _connects(current):
            written.append(previous)
        elif _connects(previous):
            in_capitals = is_upper(current)
            current = to_upper(current)
        else:
            if in_capitals and is_upper(current):
                current = to_lower(current)
            else:
                in_capitals = False
            written.append(previous)
        previous = current
    return "".join([*written, previous])


class _Word(Enum):
    NONE = auto()
    NUMBER = auto()
    CAPITALS = auto()
    LETTERS = auto()
    CONNECTOR = auto()
    PUNCTUATION = auto()
    OTHER = auto()


_END: Final = (_Word.NONE, "")
_BREAKS: Final = frozenset({_Word.NONE, _Word.CONNECTOR, _Word.PUNCTUATION})
_ALPHANUMERIC: Final = frozenset({_Word.LETTERS, _Word.NUMBER})
_IDEOGRAPHS: Final = ((0x3400, 0x4D85), (0x4E00, 0x9FCC), (0x20000, 0x2B81D))
_UNIT: Final = re.compile(f"[\ud800-\udfff{REPLACEMENT}]*[^\ud800-\udfff{REPLACEMENT}]")
"""A character with the stray bytes before it, which go where it goes."""


def snakecase(text: str) -> str:
    return _delimited(text, "_")


def kebabcase(text: str) -> str:
    return _delimited(text, "-")


def _delimited(text: str, connector: str) -> str:
    """Join all words in lower case by connectors; a number belongs to the word before or after it."""
    words = [*_words(normal(text)), _END, _END]
    last = len(words) - 3
    written: list[str] = []
    place = 0
    while place < last:
        kind = words[place][0]
        end = place + 1
        alone = kind not in {_Word.CONNECTOR, _Word.PUNCTUATION}
        split = 0
        if kind is _Word.NUMBER:
            end = _alphanumeric_end(words, end)
        elif alone and words[end][0] is _Word.NUMBER:
            if end >= last:
                alone = False
            elif words[end + 1][0] is _Word.LETTERS:
                split, end = end, _alphanumeric_end(words, end)
            else:
                end += 1
        for at in range(place, end):
            written += (connector if 0 < split == at else "", _lowered(words[at], connector))
        place = end
        if alone and words[place][0] not in _BREAKS:
            written.append(connector)
    written.append(_lowered(words[place], connector))
    return "".join(written)


def _alphanumeric_end(words: Sequence[tuple[_Word, str]], start: int) -> int:
    return next(place for place in range(start, len(words)) if words[place][0] not in _ALPHANUMERIC)


def _lowered(word: tuple[_Word, str], connector: str) -> str:
    kind, text = word
    if kind not in {_Word.CAPITALS, _Word.CONNECTOR}:
        return text
    return "".join(
        connector if _connects(char) else to_lower(char) if is_upper(char) else char for char in runes(text)
    )


def _words(text: str) -> Iterator[tuple[_Word, str]]:
    units = _UNIT.findall(text)
    if not units:
        if text:
            yield _Word.NONE, text
        return
    units[-1] += text[sum(map(len, units)) :]
    chars = [found[-1] for found in _UNIT.findall(text)]
    start = 0
    while start < len(chars):
        kind = _kind(chars[start])
        end = _word_end(chars, start, kind)
        yield kind, "".join(units[start:end])
        start = end


def _word_end(chars: Sequence[str], start: int, kind: _Word) -> int:
    end = start + 1
    if kind is _Word.CAPITALS:
        if end < len(chars) and is_upper(chars[end]):
            end = _run(chars, end, is_upper)
            # In "HTTPServer" the last capital begins the next word.
            return end - 1 if end < len(chars) and _is_alphabet(chars[end]) else end
        kind = _Word.LETTERS
    return _run(chars, end, _MEMBERS[kind])


def _run(chars: Sequence[str], start: int, belongs: Callable[[str], bool]) -> int:
    return next((place for place in range(start, len(chars)) if not belongs(chars[place])), len(chars))


def _is_alphabet(char: str) -> bool:
    return is_letter(char) and not any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] == "P"


def _is_number(char: str) -> bool:
    return unicodedata.category(char)[0] == "N"


_MEMBERS: Final[dict[_Word, Callable[[str], bool]]] = {
    _Word.CONNECTOR: _connects,
    _Word.PUNCTUATION: _is_punctuation,
    _Word.LETTERS: lambda char: _is_alphabet(char) and not is_upper(char),
    _Word.NUMBER: _is_number,
    _Word.OTHER: lambda char: _kind(char) is _Word.OTHER,
}


def _kind(char: str) -> _Word:
    if _connects(char):
        return _Word.CONNECTOR
    if _is_punctuation(char):
        return _Word.PUNCTUATION
    if is_upper(char):
        return _Word.CAPITALS
    if _is_alphabet(char):
        return _Word.LETTERS
    return _Word.NUMBER if _is_number(char) else _Word.OTHER


FUNCTIONS: Final[FunctionTable] = table(
    {
        "camelcase": camelcase,
        "kebabcase": kebabcase,
        "snakecase": snakecase,
    }
)
