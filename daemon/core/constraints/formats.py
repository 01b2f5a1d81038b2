"""Formats that a secret value may be held to: PEM, JSON, base64, URL."""

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

_PEM: Final = re.compile(
    r"\s*+(?:-----BEGIN (?P<label>[A-Z0-9 ]++)-----\r?\n"
    r"(?:[!-9;-~]++: [^\r\n]*+\r?\n(?:[ \t][^\r\n]*+\r?\n)*+)*+(?:\r?\n)?+"
    r"(?:[A-Za-z0-9+/=]++[ \t]*+\r?\n)++"
    r"-----END (?P=label)-----\s*+)++"
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


def _is_pem(value: str) -> bool:
    """One block or several, and nothing else."""
    return _PEM.fullmatch(value) is not None


def _is_json(value: str) -> bool:
    try:
        json.loads(value, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return False
    return True


def _no_number(word: str) -> None:
    raise ValueError(word)  # NaN and Infinity are no JSON


def _is_base64(value: str) -> bool:
    try:
        b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_url(value: str) -> bool:
    """An absolute URL with a host."""
    if any(each.isspace() or not each.isprintable() for each in value):
        return False
    try:
        parts = urlsplit(value)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return False
    return bool(host) and _SCHEME.fullmatch(parts.scheme) is not None


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "pem": _is_pem,
    "json": _is_json,
    "base64": _is_base64,
    "url": _is_url,
}
