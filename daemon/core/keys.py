"""Converts key names for a Secret, converts them back for a secret manager, and validates them.

Values are not looked at, so the functions take maps of anything.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from syncret.providers.errors import Malformed

V = TypeVar("V")

MAX_LENGTH: Final = 253
"""Bytes, not characters."""

_REVERSIBLE: Final = re.compile("_U([0-9a-fA-F]{4,5})_")


def convert(strategy: str, key: str) -> str:
    """The key with what a Secret cannot hold replaced: by `_` (Default) or `_U<hex>_` (Unicode)."""
    match strategy:
        case "Default" | "":
            return "".join(char if _allowed(char) else "_" for char in key)
        case "Unicode":
            return "".join(char if _allowed(char) else f"_U{ord(char):04x}_" for char in key)
        case _:
            return key


def convert_keys(strategy: str, values: Mapping[str, V]) -> dict[str, V]:
    """All keys converted. Raises Malformed where two become one."""
    return _renamed(values, lambda key: convert(strategy, key))


def reverse(strategy: str, key: str) -> str:
    """The key as it was before the Unicode conversion, under the strategy ReverseUnicode; else unchanged."""
    return _REVERSIBLE.sub(_character, key) if strategy == "ReverseUnicode" else key


def reverse_keys(strategy: str, values: Mapping[str, V]) -> dict[str, V]:
    """All keys converted back. Raises Malformed where two become one."""
    return _renamed(values, lambda key: reverse(strategy, key))


def validate_keys(values: Mapping[str, V]) -> dict[str, V]:
    """The values whose key is not empty. Raises Malformed for a key that a Secret cannot hold."""
    for key in sorted(values):
        length = len(key.encode("utf-8", "surrogatepass"))
        if length > MAX_LENGTH:
            problem = f"key has length {length} but max is {MAX_LENGTH}, beginning with {key[:40]!r}"
            raise Malformed(problem)
        wrong = next((char for char in key if not _allowed(char)), None)
        if wrong is not None:
            problem = f"key has invalid character {wrong!r}, only alphanumeric, '-', '.' and '_' are allowed"
            raise Malformed(f"{problem}: {key!r}", hint="a rewrite can rename it")
    return {key: value for key, value in values.items() if key}


def _allowed(char: str) -> bool:
    return char in "-._" or unicodedata.category(char)[0] in "LN"


def _character(found: "re.Match[str]") -> str:
    char = chr(int(found[1], 16))
    return "\ufffd" if unicodedata.category(char) == "Cs" else char


def _renamed(values: Mapping[str, V], rename: Callable[[str], str]) -> dict[str, V]:
    renamed: dict[str, V] = {}
    for key in sorted(values):
        new = rename(key)
        if new in renamed:
            raise Malformed(f"secret name collision during conversion: {new}")
        renamed[new] = values[key]
    return renamed
