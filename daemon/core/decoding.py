"""Decodes fetched values, and applies the policy for null bytes."""

import base64
import re
from collections.abc import Mapping
from typing import Final

from syncret.providers.errors import Malformed

_STANDARD: Final = re.compile(rb"[A-Za-z0-9+/]*={0,2}")
_URL_SAFE: Final = re.compile(rb"[A-Za-z0-9_-]*={0,2}")
_STRAY: Final = re.compile("[\udc80-\udcff]")
_GROUP: Final = 4
_NO_LINE_BREAKS: Final = b"\r\n"


def decode(strategy: str, value: bytes) -> bytes:
    """The value decoded by None (or an empty name), Base64, Base64URL or Auto. Raises Malformed."""
    match strategy:
        case "None" | "":
            return value
        case "Base64":
            decoded = _base64(value, _STANDARD, b"+/")
        case "Base64URL":
            decoded = _base64(value, _URL_SAFE, b"-_")
        case "Auto":
            return _auto(value)
        case _:
            raise Malformed(f"decoding strategy {strategy} is not supported")
    if decoded is None:
        problem = f"the value is not valid {strategy}"
        raise Malformed(problem, hint="decodingStrategy: Auto passes such values on")
    return decoded


def decode_map(strategy: str, values: Mapping[str, bytes]) -> dict[str, bytes]:
    """Every value decoded; keys never are. Raises Malformed with the key of the first that fails."""
    decoded: dict[str, bytes] = {}
    for key in sorted(values):
        try:
            decoded[key] = decode(strategy, values[key])
        except Malformed as error:
            raise Malformed(f"failure decoding key {key}: {error.message}", hint=error.hint) from error
    return decoded


def check_null_bytes(policy: str, values: Mapping[str, bytes]) -> None:
    """Under the policy Fail, raise Malformed with the key of the first value that holds a null byte."""
    if policy != "Fail":
        return
    for key in sorted(values):
        if b"\x00" in values[key]:
            raise Malformed(
                f'fetched secret value for key "{key}" contains null bytes',
                hint="store it as text (PEM, base64), or leave nullBytePolicy out for binary data",
            )


def as_text(value: bytes) -> str:
    """The value where only text fits: a replacement character for each byte that is no UTF-8."""
    return _STRAY.sub("\ufffd", value.decode(errors="surrogateescape"))


def _auto(value: bytes) -> bytes:
    for pattern, alphabet in ((_STANDARD, b"+/"), (_URL_SAFE, b"-_")):
        decoded = _base64(value, pattern, alphabet)
        if decoded is not None:
            return decoded
    return value


def _base64(value: bytes, pattern: "re.Pattern[bytes]", last_two: bytes) -> bytes | None:
    """As Go decodes: line breaks are skipped, padding is required, spare bits may be anything."""
    packed = value.translate(None, _NO_LINE_BREAKS)
    if len(packed) % _GROUP or not pattern.fullmatch(packed):
        return None
    return base64.b64decode(packed, altchars=last_two)
