"""Replaces texts character by character, in little more memory than the result takes."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import islice
from typing import Final

_ASCII: Final = 128
_REMEMBERED: Final = 4096
_AT_ONCE: Final = 4096
"""Pieces that are in memory together: each takes that of an object."""


class Characters(dict[int, str]):
    """A table for `str.translate`, made of a function of one character.

    Those of ASCII are in the table; the function is asked for all others, and a few thousand are remembered.
    """

    def __init__(self, replaced: Callable[[str], str]) -> None:
        super().__init__((number, replaced(chr(number))) for number in range(_ASCII))
        self._replaced = lru_cache(_REMEMBERED)(replaced)

    def __missing__(self, number: int) -> str:
        return self._replaced(chr(number))


def gathered(pieces: Iterable[str]) -> str:
    """The pieces in one text, as `join` does it, which keeps all of them until the end."""
    rest, joined = iter(pieces), list[str]()
    while some := list(islice(rest, _AT_ONCE)):
        joined.append("".join(some))
    return "".join(joined)


class Pieces:
    """A text to which pieces are added."""

    def __init__(self) -> None:
        self._joined: list[str] = []
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        if len(self._pieces) == _AT_ONCE:
            self._joined.append("".join(self._pieces))
            self._pieces.clear()

    @property
    def text(self) -> str:
        """All of them."""
        return "".join([*self._joined, *self._pieces])
