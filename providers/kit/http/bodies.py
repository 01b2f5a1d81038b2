"""What a request sends: its body, and the parts of its path."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

import msgspec

from syncret.providers.errors import Malformed


@dataclass(frozen=True, slots=True)
class Body:
    """Bytes and their media type; without one, the request names none."""

    content: bytes = field(repr=False)
    type: str = ""


def json_body(value: object) -> Body:
    """A JSON document."""
    return Body(msgspec.json.encode(value), "application/json")


def form_body(fields: Mapping[str, str]) -> Body:
    """A form, as token endpoints take it."""
    return Body(urlencode(fields).encode(), "application/x-www-form-urlencoded")


def segments(*parts: str) -> str:
    """Parts of a path, each quoted so that it stays one part: `a/b` becomes `a%2Fb`.

    Raises Malformed for `.` and `..`, which a server or proxy would take as a way to elsewhere.
    """
    for part in parts:
        if part in {".", ".."}:
            raise Malformed(f"{part!r} cannot be part of a path", hint="write the key's full name")
    return "/".join(quote(part, safe="") for part in parts)
