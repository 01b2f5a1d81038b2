"""The end of what a command printed, as text, without the values that were delivered."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote_from_bytes, quote_plus

KEPT: Final = 4096
"""Bytes at the end of the output that are kept: there programs print their errors."""

REDACTED: Final = "[redacted]"

_SHORTEST: Final = 4
_SHORTEST_LINE: Final = 8
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Redaction:
    """Redacts values: verbatim, each of their lines, and encoded as base64, hex or for a URL."""

    def __init__(self, values: Iterable[bytes]) -> None:
        forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
        self._longest = max(map(len, forms), default=0)
        by_length = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, by_length))) if forms else None

    @property
    def buffer_size(self) -> int:
        """How many bytes at the end of an output have to be kept, so that no value is cut in two."""
        return KEPT + self._longest

    def end_of(self, output: bytes, *, is_cut: bool) -> str:
        """The end of an output as text; `is_cut`: it was truncated at its begin, maybe within a value."""
        begin = max(len(output) - KEPT, 0)
        if is_cut:
            begin = max(begin, min(self._longest, len(output)))
        parts: list[str] = []
        place = begin
        for found in self._pattern.finditer(output) if self._pattern is not None else ():
            if found.end() <= begin:
                continue
            if found.start() > place:
                parts.append(_text(output[place : found.start()]))
            parts.append(REDACTED)
            place = found.end()
        parts.append(_text(output[place:]))
        return "".join(parts).strip()


def _forms(value: bytes) -> set[bytes]:
    lines = value.splitlines()
    encoded = {
        b64encode(value),
        b64encode(value).rstrip(b"="),
        urlsafe_b64encode(value),
        value.hex().encode(),
        value.hex().upper().encode(),
        quote_from_bytes(value, safe="").encode(),
        quote_plus(value).encode(),
    }
    return {value, *encoded, *(line for line in lines if len(line) >= _SHORTEST_LINE)}


def _text(output: bytes) -> str:
    return _CONTROL.sub("", output.decode(errors="replace"))
