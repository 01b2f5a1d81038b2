"""Bodies and paths of requests, responses (`Answer`), and the errors for their statuses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from syncret.config.fields import Json
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable

if TYPE_CHECKING:
    from multidict import CIMultiDictProxy

    from syncret.providers.kit.http.payloads import GuardedBytes


_AT_ONCE: Final = 2**20


@dataclass(frozen=True, slots=True)
class Body:
    """Bytes and their media type; empty: no Content-Type."""

    content: bytes = field(repr=False)
    type: str = ""
    may_leave: Callable[[], bool] | None = field(default=None, repr=False)
    """Asked in the same turn of the loop in which the bytes are handed to the socket; if not, none of the
    request is sent."""

    @property
    def payload(self) -> "bytes | BytesIO | GuardedBytes":
        """The body as aiohttp sends it; a large one in pieces, as at once it would hold up the loop."""
        if self.may_leave is None:
            return self.content if len(self.content) <= _AT_ONCE else BytesIO(self.content)
        from syncret.providers.kit.http.payloads import GuardedBytes  # aiohttp takes 200 ms to import

        return GuardedBytes(self.content, self.may_leave)


_PLAIN: Final = re.compile(r"[A-Za-z0-9_.~-]*")
"""Text that needs no quoting: matching is quicker than quoting."""


def json_body(value: object) -> Body:
    """A JSON document."""
    return Body(msgspec.json.encode(value), "application/json")


def form_body(fields: Mapping[str, str]) -> Body:
    """A URL-encoded form, for token endpoints."""
    return Body(urlencode(fields).encode(), "application/x-www-form-urlencoded")


def segments(*parts: str) -> str:
    """Segments of a path, each quoted: `a/b` becomes `a%2Fb`.

    Raises Malformed for `.` and `..`, which a server or proxy would resolve, and for an empty part: it would
    lead to a collection.
    """
    for part in parts:
        if part in {"", ".", ".."}:
            raise Malformed(f"{part!r} cannot be part of a path", hint="write the key's full name")
    return "/".join([part if _PLAIN.fullmatch(part) else quote(part, safe="") for part in parts])


T = TypeVar("T")

_DAY: Final = 86_400.0


class Unauthenticated(Denied):
    """The credentials are not valid, or not any more: a new login may help."""


class NotReached(Unavailable):
    """No connection was made, so that the request was not carried out for sure."""


class NoAddress(NotReached):
    """DNS does not know the host: if a field of the spec is part of its name, that field may be wrong."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response with an accepted status: headers (names in lower case) and the whole body."""

    doing: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def json(self) -> Json:
        """The body as JSON. Raises Malformed, with what it is instead."""
        return self.decode(object)

    def decode(self, model: type[T]) -> T:
        """The body as JSON that fits a model. Raises Malformed; no message quotes the body."""
        try:
            return msgspec.json.decode(self.body, type=model)
        except msgspec.ValidationError:
            problem, hint = "the answer is JSON of another shape than the API has", "does the URL lead there?"
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            problem, hint = self._found_instead()
        # Raised outside of the handler: the parser's error must not become the context.
        raise Malformed(f"{self.doing}: {problem}", hint=hint)

    def decode_if(self, model: type[T]) -> T | None:
        """As `decode`, but None if it does not fit: the body of an error may come from a proxy."""
        try:
            return msgspec.json.decode(self.body, type=model)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def _found_instead(self) -> tuple[str, str]:
        start = self.body[:256].lstrip().lower()
        if not start:
            return "the answer is empty where JSON is expected", "does the URL lead to the API?"
        if start.startswith((b"<!doctype html", b"<html")) or "html" in self.headers.get("content-type", ""):
            return "the answer is HTML, not JSON", "the URL leads to a web page: a login page, or a proxy's"
        return "the answer is not JSON", "does the URL lead to the API?"


_ERRORS: Final[Mapping[int, tuple[type[SyncError], str]]] = {
    HTTPStatus.UNAUTHORIZED: (
        Unauthenticated,
        "the credentials are wrong or expired: check what the store refers to",
    ),
    HTTPStatus.FORBIDDEN: (Denied, "the credentials are known, but may not do this: grant it to them"),
    HTTPStatus.NOT_FOUND: (Malformed, "nothing is at this address: check the store's URL"),
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: (
        Denied,
        "the proxy wants a login: write it into HTTPS_PROXY",
    ),
    HTTPStatus.REQUEST_TIMEOUT: (Unavailable, ""),
    HTTPStatus.TOO_EARLY: (Unavailable, ""),
}


def header_dict(headers: "CIMultiDictProxy[str]") -> dict[str, str]:
    """Headers by name in lower case. Repeated ones are joined by commas (RFC 9110)."""
    found: dict[str, str] = {}
    for given, value in headers.items():
        name = given.lower()
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def error_of_status(
    doing: str, status: int, headers: Mapping[str, str], now: Callable[[], float]
) -> SyncError:
    """The error for a status that is not accepted. It has the status only, never the body."""
    message = f"{doing}: HTTP {status}{_phrase(status)}"
    after = retry_after(headers.get("retry-after", ""), now)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        hint = "the server allows fewer calls: lower syncret.dev/requests-per-second of the store"
        return Throttled(message, retry_after=after, hint=hint)
    if status == HTTPStatus.SERVICE_UNAVAILABLE and after is not None:
        return Throttled(message, retry_after=after)
    broken = Unavailable if status >= HTTPStatus.INTERNAL_SERVER_ERROR else Malformed
    error, hint = _ERRORS.get(status, (broken, ""))
    return error(message, hint=hint)


def retry_after(text: str, now: Callable[[], float]) -> float | None:
    """Seconds to wait, from a header with seconds or a date; None if it cannot be parsed.

    At most a day.
    """
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return min(float(text), _DAY)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(0.0, (moment - datetime.fromtimestamp(now(), UTC)).total_seconds()), _DAY)


def _phrase(status: int) -> str:
    """The standard reason phrase; the server's own could be anything."""
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""
