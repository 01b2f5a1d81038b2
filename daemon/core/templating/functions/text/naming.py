"""camelcase, snakecase and kebabcase, with the word boundaries of ESO's library."""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Final, cast

from syncret.daemon.core.templating.characters import Characters, gathered
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text.casing import is_letter, is_upper, to_lower, to_upper
from syncret.daemon.core.templating.functions.text.layout import REPLACEMENT, SPACE, normal, runes
from syncret.providers.work import Work


def _connects(char: str) -> bool:
    return char in "-_" or char in SPACE


def camelcase(context: Context, text: str) -> str:
    """Capitalize every word; connectors at the start, and all but the last of several, are kept."""
    context.budget.step(len(text))
    return gathered(_capitalized(runes(text)))


def _capitalized(chars: str) -> Iterator[str]:
    start = next((place for place, char in enumerate(chars) if not _connects(char)), len(chars))
    yield chars[:start]
    if start == len(chars):
        yield chars[-1:]  # the library writes the last connector twice
        return
    previous = to_upper(chars[start])
    in_capitals = is_upper(chars[start])
    for char in islice(chars, start + 1, None):
        current = char
        if _connects(previous) and _connects(current):
            yield previous
        elif _connects(previous):
            in_capitals = is_upper(current)
            current = to_upper(current)
        else:
            if in_capitals and is_upper(current):
                current = to_lower(current)
            else:
                in_capitals = False
            yield previous
        previous = current
    yield previous


class _Word(StrEnum):
    """The kinds of words, each a letter."""

    NONE = " "
    NUMBER = "n"
    CAPITALS = "u"
    LETTERS = "l"
    CONNECTOR = "c"
    PUNCTUATION = "p"
    OTHER = "o"


_DASH: Final = "d"
"""A character that connects words, and is punctuation within some."""

_STRAY: Final = "s"
"""A byte that is not UTF-8. It goes where the character after it goes."""

_IDEOGRAPHS: Final = ((0x3400, 0x4D85), (0x4E00, 0x9FCC), (0x20000, 0x2B81D))
_WORD: Final = re.compile(
    "(?P<c>(?:s*+[cd])++)"
    "|(?P<p>s*+p(?:s*+[pd])*+)"
    "|(?P<n>(?:s*+n)++)"
    "|(?P<l>(?:s*+l)++)"
    "|(?P<o>(?:s*+o)++)"
    # In "HTTPServer" the last capital begins the next word; a single one belongs to the letters after it.
    "|(?P<u>(?:s*+u(?=s*+u))++(?:s*+u(?!s*+l))?+|s*+u(?:s*+l)*+)"
)
"""A word of a text whose characters are replaced by their kinds."""

_ALPHANUMERIC: Final = re.compile(f"[{_Word.LETTERS}{_Word.NUMBER}]*")
_BREAKS: Final = frozenset({_Word.NONE, _Word.CONNECTOR, _Word.PUNCTUATION})
_WORD_STEPS: Final = 4


def _is_alphabet(char: str) -> bool:
    return is_letter(char) and not any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)


def _kind(char: str) -> str:
    if _connects(char):
        return _DASH if char in "-_" else _Word.CONNECTOR
    category = unicodedata.category(char)
    if category == "Cs" or char == REPLACEMENT:
        return _STRAY
    if category[0] in "PN":
        return _Word.PUNCTUATION if category[0] == "P" else _Word.NUMBER
    if is_upper(char):
        return _Word.CAPITALS
    return _Word.LETTERS if _is_alphabet(char) else _Word.OTHER


_KINDS: Final = Characters(_kind)


def snakecase(context: Context, text: str) -> str:
    return _delimited(context.budget, normal(text), "_")


def kebabcase(context: Context, text: str) -> str:
    return _delimited(context.budget, normal(text), "-")


def _delimited(budget: Work, text: str, connector: str) -> str:
    """Join all words in lower case by connectors; a number belongs to the word before or after it."""
    budget.take(len(text), len(text))
    words = _Words(text)
    budget.take(_WORD_STEPS * len(words.ends), len(words.ends) * words.ends.itemsize)
    return gathered(_joined(words, connector))


class _Words:
    """The kinds of the words of a text, and where each ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        kinds: list[str] = []
        self.ends = array("Q", [0])
        classes = text.translate(_KINDS).rstrip(_STRAY)
        for found in _WORD.finditer(classes):
            kinds.append(cast("str", found.lastgroup))
            self.ends.append(found.end())
        if not kinds:
            kinds.append(_Word.NONE)
            self.ends.append(0)
        self.last = len(kinds) - 1
        self.ends[-1] = len(text)  # stray bytes at the end
        self.kinds = "".join(kinds) + 2 * _Word.NONE

    def lowered(self, place: int, connector: str) -> str:
        """The word of that number, with its connectors replaced."""
        text = self.text[self.ends[place] : self.ends[place + 1]]
        if self.kinds[place] not in {_Word.CAPITALS, _Word.CONNECTOR}:
            return text
        return "".join(
            connector if _connects(char) else to_lower(char) if is_upper(char) else char
            for char in runes(text)
        )


def _joined(words: _Words, connector: str) -> Iterator[str]:
    kinds, place = words.kinds, 0
    while place < words.last:
        kind = kinds[place]
        end = place + 1
        alone = kind not in {_Word.CONNECTOR, _Word.PUNCTUATION}
        split = 0
        if kind == _Word.NUMBER:
            end = _alphanumeric_end(kinds, end)
        elif alone and kinds[end] == _Word.NUMBER:
            if end >= words.last:
                alone = False
            elif kinds[end + 1] == _Word.LETTERS:
                split, end = end, _alphanumeric_end(kinds, end)
            else:
                end += 1
        for at in range(place, end):
            if 0 < split == at:
                yield connector
            yield words.lowered(at, connector)
        place = end
        if alone and kinds[place] not in _BREAKS:
            yield connector
    yield words.lowered(place, connector) if place <= words.last else ""


def _alphanumeric_end(kinds: str, start: int) -> int:
    found = _ALPHANUMERIC.match(kinds, start)
    return found.end() if found else start


FUNCTIONS: Final[FunctionTable] = table(
    {
        "camelcase": camelcase,
        "kebabcase": kebabcase,
        "snakecase": snakecase,
    }
)
