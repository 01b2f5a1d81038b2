"""Format strings for printf, right and wrong."""

from random import Random
from typing import Final

_VERBS: Final = "vdsqxXobOcUtTeEfFgGwz%"
_WIDTHS: Final = ("", "", "", "5", "10", "3", "*", "[1]", "[2]", "[9]", "[x]", "[1]*", "1", "08")
_PRECISIONS: Final = ("", "", "", ".2", ".0", ".", ".10", ".*", ".[1]*", ".[2]", ".1")
_INDEXES: Final = ("", "", "", "", "[1]", "[2]")


def verbs(chance: Random) -> str:
    """A format string as a template spells it."""
    made = ""
    for _ in range(chance.randint(1, 3)):
        flags = "".join(chance.choices("#0+- ", k=chance.choice((0, 0, 1, 2))))
        shape = chance.choice(_WIDTHS) + chance.choice(_PRECISIONS) + chance.choice(_INDEXES)
        made += f"{chance.choice(('', 'a', ' ', 'é'))}%{flags}{shape}{chance.choice(_VERBS)}"
    return f'"{made}"'
