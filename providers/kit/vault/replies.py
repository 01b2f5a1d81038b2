"""Responses of Vault, and the errors for its statuses. Messages never quote Vault, which may quote values."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object, member
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http import Answer
from syncret.providers.work import Work

_DR_SECONDARY: Final = 472
_STANDBY: Final = 473

ACCEPTED: Final = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.PRECONDITION_FAILED,
        _DR_SECONDARY,
        _STANDBY,
    }
)
"""Statuses with a special meaning at Vault."""

_STALE: Final = "check-and-set parameter did not match"
_CAS_WANTED: Final = "check-and-set parameter required"


class Refused(Denied):
    """Status 403: the token is invalid, or its policies forbid the request; Vault does not say which."""


class Rejected(Malformed):
    """Status 400: Vault does not accept the request."""


class Stale(Unavailable):
    """Check-and-set failed: the entry was changed since it was read. Read again, then write again."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One response, decoded; numbers keep their text."""

    document: Document = field(repr=False)

    def part(self, name: str) -> Document:
        """A member that is an object; empty if it is none."""
        found = self.document.get(name)
        return found if is_object(found) else {}

    def text(self, name: str) -> str:
        """A member that is a string; empty if it is none."""
        found = self.document.get(name)
        return found if isinstance(found, str) else ""

    @property
    def data(self) -> Document | None:
        """The payload; None if there is none."""
        found = self.document.get("data")
        return found if is_object(found) else None


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such entry; `version` is that of a deleted one, 0 if there never was one."""

    version: int = 0


def read(answer: Answer, work: Work) -> Reply | Absent:
    """Decode a response. Raises SyncError for errors other than absence."""
    if 200 <= answer.status < 300:  # noqa: PLR2004  # statuses of HTTP
        return Reply(_document(answer, work) if answer.body else {})
    if answer.status == HTTPStatus.NOT_FOUND:
        return _not_found(answer, work)
    raise _error_of(answer)


def _document(answer: Answer, work: Work) -> Document:
    found: Json = None
    try:
        found = gojson.unmarshal(answer.body, work, keep_numbers=True)
    except Malformed:
        answer.json()  # raises Malformed if it is no JSON
        raise
    if is_object(found):
        return found
    raise Malformed(
        f"{answer.doing}: the answer is JSON of another shape than Vault's", hint="check the store's server"
    )


def _not_found(answer: Answer, work: Work) -> Absent:
    """A 404 with an empty list of errors is absence; any other 404 is a mistake."""
    document = _document(answer, work)
    if is_object(document.get("data")):
        return Absent(number(member(document["data"], "metadata").get("version")))
    if document.get("warnings"):
        raise Malformed(
            f"{answer.doing}: the engine is a key-value engine of another version",
            hint="set the store's version to that of the engine: v1 or v2",
        )
    if document.get("errors"):
        raise Malformed(
            f"{answer.doing}: no engine is mounted at this path",
            hint="check path in the store and the key: `vault secrets list` shows the mounts",
        )
    if "errors" not in document:
        raise Malformed(f"{answer.doing}: HTTP 404 from a server that is no Vault", hint="check server")
    return Absent()


def _error_of(answer: Answer) -> SyncError:
    doing = answer.doing
    match answer.status:
        case HTTPStatus.FORBIDDEN:
            return Refused(f"{doing}: permission denied")
        case HTTPStatus.BAD_REQUEST:
            return _bad_request(answer)
        case HTTPStatus.PRECONDITION_FAILED:
            return Unavailable(f"{doing}: this node has not yet seen our last write")
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return Malformed(f"{doing}: the path does not support this", hint="check path, key and version")
        case _:
            problem = f"this node is a standby that serves no requests (HTTP {answer.status})"
            return Unavailable(f"{doing}: {problem}", problem=problem)


def _bad_request(answer: Answer) -> SyncError:
    body = answer.body.decode("utf-8", "replace")
    if _STALE in body:
        return Stale(f"{answer.doing}: another program has written a newer version meanwhile")
    if _CAS_WANTED in body:
        return Rejected(
            f"{answer.doing}: the engine demands check-and-set", hint="set checkAndSet.required in the store"
        )
    return Rejected(f"{answer.doing}: Vault does not accept the request (HTTP 400)")


def number(value: object) -> int:
    """An integer of a response; 0 if it is none."""
    try:
        return int(value) if isinstance(value, str | int) else 0
    except ValueError:
        return 0
