"""Letter case: upper, lower, title, untitle and swapcase.

Go maps each character to one character; Python's methods may return several (a sharp s, a final sigma).
"""

import unicodedata
from functools import lru_cache
from typing import Final

from syncret.daemon.core.templating.functions.contract import FunctionTable, table
from syncret.daemon.core.templating.functions.text.layout import SPACE, runes

_DOTTED_I: Final = "\u0130"


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


def upper(text: str) -> str:
    return text.upper() if text.isascii() else "".join(map(to_upper, runes(text)))


def lower(text: str) -> str:
    return text.lower() if text.isascii() else "".join(map(to_lower, runes(text)))


def title(text: str) -> str:
    changed: list[str] = []
    previous = " "
    for char in runes(text):
        changed.append(to_title(char) if _separates(previous) else char)
        previous = char
    return "".join(changed)


def _separates(char: str) -> bool:
    if char.isascii():
        return not (char.isalnum() or char == "_")
    return char in SPACE


def untitle(text: str) -> str:
    changed: list[str] = []
    at_start = True
    for char in runes(text):
        is_space = char in SPACE
        changed.append(to_lower(char) if at_start and not is_space else char)
        at_start = is_space
    return "".join(changed)


def swapcase(text: str) -> str:
    changed: list[str] = []
    after_space = True
    for char in runes(text):
        match unicodedata.category(char):
            case "Lu" | "Lt":
                changed.append(to_lower(char))
                after_space = False
            case "Ll":
                changed.append(to_title(char) if after_space else to_upper(char))
                after_space = False
            case _:
                changed.append(char)
                after_space = char in SPACE
    return "".join(changed)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "lower": lower,
        "swapcase": swapcase,
        "title": title,
        "untitle": untitle,
        "upper": upper,
    }
)
