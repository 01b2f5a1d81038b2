"""Letter case: upper, lower, title, untitle and swapcase.

Go maps each character to one character; Python's methods may return several (a sharp s, a final sigma).
"""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from syncret.daemon.core.templating.characters import Characters, gathered
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text.layout import SPACE, runes

_DOTTED_I: Final = "\u0130"
_CHARACTERS_A_STEP: Final = 2


@lru_cache(maxsize=4096)
def to_upper(char: str) -> str:
    """One character's simple upper case."""
    upper = char.upper()
    if len(upper) > 1:
        upper = char.title()
    return upper if len(upper) == 1 else char


@lru_cache(maxsize=4096)
def to_title(char: str) -> str:
    """One character's simple title case."""
    title = char.title()
    return title if len(title) == 1 else char


@lru_cache(maxsize=4096)
def to_lower(char: str) -> str:
    """One character's simple lower case."""
    return "i" if char == _DOTTED_I else char.lower()


def is_upper(char: str) -> bool:
    return unicodedata.category(char) == "Lu"


def is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] == "L"


_UPPER: Final = Characters(to_upper)
_LOWER: Final = Characters(to_lower)


def upper(context: Context, text: str) -> str:
    if text.isascii():
        return text.upper()
    context.budget.look_at_each(text)
    return runes(text).translate(_UPPER)


def lower(context: Context, text: str) -> str:
    if text.isascii():
        return text.lower()
    context.budget.look_at_each(text)
    return runes(text).translate(_LOWER)


def title(context: Context, text: str) -> str:
    context.budget.step(len(text) // _CHARACTERS_A_STEP)
    return gathered(_titled(runes(text)))


def _titled(text: str) -> Iterator[str]:
    previous = " "
    for char in text:
        yield to_title(char) if _separates(previous) else char
        previous = char


def _separates(char: str) -> bool:
    if char.isascii():
        return not (char.isalnum() or char == "_")
    return char in SPACE


def untitle(context: Context, text: str) -> str:
    context.budget.step(len(text) // _CHARACTERS_A_STEP)
    return gathered(_untitled(runes(text)))


def _untitled(text: str) -> Iterator[str]:
    at_start = True
    for char in text:
        is_space = char in SPACE
        yield to_lower(char) if at_start and not is_space else char
        at_start = is_space


def swapcase(context: Context, text: str) -> str:
    context.budget.step(len(text) // _CHARACTERS_A_STEP)
    return gathered(_swapped(runes(text)))


def _swapped(text: str) -> Iterator[str]:
    after_space = True
    for char in text:
        match unicodedata.category(char):
            case "Lu" | "Lt":
                yield to_lower(char)
                after_space = False
            case "Ll":
                yield to_title(char) if after_space else to_upper(char)
                after_space = False
            case _:
                yield char
                after_space = char in SPACE


FUNCTIONS: Final[FunctionTable] = table(
    {
        "lower": lower,
        "swapcase": swapcase,
        "title": title,
        "untitle": untitle,
        "upper": upper,
    }
)
