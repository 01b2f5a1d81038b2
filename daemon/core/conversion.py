"""`conversionStrategy` for key names, `decodingStrategy` and `nullBytePolicy` for values."""

import base64
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from syncret.providers.errors import Malformed, SyncError
from syncret.providers.work import Work

V = TypeVar("V")
MAX_LENGTH: Final = 253
"""Bytes, not characters."""

_REVERSIBLE: Final = re.compile("_U([0-9a-fA-F]{4,5})_")
_STANDARD: Final = re.compile(rb"[A-Za-z0-9+/]*={0,2}")
_URL_SAFE: Final = re.compile(rb"[A-Za-z0-9_-]*={0,2}")
_STRAY: Final = re.compile("[\udc80-\udcff]")
_GROUP: Final = 4
_NO_LINE_BREAKS: Final = b"\r\n"

_KEY_COST: Final = 4
_KEY_SIZE: Final = 100
_CHARACTER_COST: Final = 2
_LONGEST_ESCAPE: Final = 8
"""Of `_U1f600_`, as the strategy Unicode writes it."""


def convert(strategy: str, key: str) -> str:
    """Replace characters that a Secret's key cannot have, by `_` (Default) or `_U<hex>_` (Unicode)."""
    match strategy:
        case "Default" | "":
            return "".join(char if _allowed(char) else "_" for char in key)
        case "Unicode":
            return "".join(char if _allowed(char) else f"_U{ord(char):04x}_" for char in key)
        case _:
            return key


def convert_keys(strategy: str, values: Mapping[str, V], work: Work) -> dict[str, V]:
    """Convert all keys. Raises Malformed if two keys become equal."""
    return _renamed(values, lambda key: convert(strategy, key), work)


def reverse(strategy: str, key: str) -> str:
    """The key before the Unicode conversion, with the strategy ReverseUnicode; otherwise unchanged."""
    return _REVERSIBLE.sub(_character, key) if strategy == "ReverseUnicode" else key


def reverse_keys(strategy: str, values: Mapping[str, V], work: Work) -> dict[str, V]:
    """Convert all keys back. Raises Malformed if two keys become equal."""
    return _renamed(values, lambda key: reverse(strategy, key), work)


def validate_keys(values: Mapping[str, V], work: Work) -> dict[str, V]:
    """The values whose key is not empty. Raises Malformed for a key that a Secret cannot have."""
    for key in sorted(values):
        work.step(_KEY_COST + len(key))
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


def _renamed(values: Mapping[str, V], rename: Callable[[str], str], work: Work) -> dict[str, V]:
    renamed: dict[str, V] = {}
    for key in sorted(values):
        work.take(_KEY_COST + _CHARACTER_COST * len(key), _KEY_SIZE + _LONGEST_ESCAPE * len(key))
        new = rename(key)
        if new in renamed:
            raise Malformed(f"secret name collision during conversion: {new}")
        renamed[new] = values[key]
    return renamed


def decode(strategy: str, value: bytes, work: Work) -> bytes:
    """Decode a value by the strategy None (or empty), Base64, Base64URL or Auto. Raises Malformed."""
    match strategy:
        case "None" | "":
            return value
        case "Base64":
            decoded = _base64(value, _STANDARD, b"+/", work)
        case "Base64URL":
            decoded = _base64(value, _URL_SAFE, b"-_", work)
        case "Auto":
            return _auto(value, work)
        case _:
            raise Malformed(f"decoding strategy {strategy} is not supported")
    if decoded is None:
        problem = f"the value is not valid {strategy}"
        raise Malformed(problem, hint="decodingStrategy: Auto passes such values on")
    return decoded


def decode_map(strategy: str, values: Mapping[str, bytes], work: Work) -> dict[str, bytes]:
    """Decode every value. Raises Malformed with the key of the first that fails."""
    decoded: dict[str, bytes] = {}
    for key in sorted(values):
        work.take(_KEY_COST, _KEY_SIZE)
        try:
            decoded[key] = decode(strategy, values[key], work)
        except SyncError as error:
            raise error.within(f"failure decoding key {key}") from error
    return decoded


def check_null_bytes(policy: str, values: Mapping[str, bytes]) -> None:
    """With the policy Fail, raise Malformed with the key of the first value that contains a null byte."""
    if policy != "Fail":
        return
    for key in sorted(values):
        if b"\x00" in values[key]:
            raise Malformed(
                f'fetched secret value for key "{key}" contains null bytes',
                hint="store it as text (PEM, base64), or leave nullBytePolicy out for binary data",
            )


def as_text(value: bytes) -> str:
    """The value as text, with a replacement character for each byte that is not UTF-8."""
    return _STRAY.sub("\ufffd", value.decode(errors="surrogateescape"))


def _auto(value: bytes, work: Work) -> bytes:
    for pattern, alphabet in ((_STANDARD, b"+/"), (_URL_SAFE, b"-_")):
        decoded = _base64(value, pattern, alphabet, work)
        if decoded is not None:
            return decoded
    return value


def _base64(value: bytes, pattern: "re.Pattern[bytes]", last_two: bytes, work: Work) -> bytes | None:
    """Decode as Go does: line breaks are skipped, padding is required, unused bits are ignored."""
    work.make(2 * len(value))
    packed = value.translate(None, _NO_LINE_BREAKS)
    if len(packed) % _GROUP or not pattern.fullmatch(packed):
        return None
    return base64.b64decode(packed, altchars=last_two)
