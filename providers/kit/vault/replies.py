"""What Vault answers, and what its statuses mean. No message repeats Vault's own words: they may quote."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object, member
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http import Answer

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
"""Statuses that mean something else here than elsewhere."""

_STALE: Final = "check-and-set parameter did not match"
_CAS_WANTED: Final = "check-and-set parameter required"


class Refused(Denied):
    """Status 403: the token is not valid, or its policies do not allow this. Vault does not say which."""


class Rejected(Malformed):
    """Status 400: Vault does not accept what it was sent."""


class Stale(Unavailable):
    """A write named a version that is not the newest any more: read again, then write again."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer, decoded: numbers are as they were written."""

    document: Document = field(repr=False)

    def part(self, name: str) -> Document:
        """A member that is an object; empty where it is none."""
        found = self.document.get(name)
        return found if is_object(found) else {}

    def text(self, name: str) -> str:
        """A member that is a string; empty where it is none."""
        found = self.document.get(name)
        return found if isinstance(found, str) else ""

    @property
    def data(self) -> Document | None:
        """The payload; None where there is none."""
        found = self.document.get("data")
        return found if is_object(found) else None


@dataclass(frozen=True, slots=True)
class Absent:
    """Vault said that nothing is there; `version` is that of a deleted entry, 0 where there never was one."""

    version: int = 0


def read(answer: Answer) -> Reply | Absent:
    """The answer's meaning. Raises SyncError for what is neither an answer nor absence."""
    if 200 <= answer.status < 300:  # noqa: PLR2004  # HTTP's own numbers
        return Reply(_document(answer) if answer.body else {})
    if answer.status == HTTPStatus.NOT_FOUND:
        return _not_found(answer)
    raise _error_of(answer)


def _document(answer: Answer) -> Document:
    found: Json = None
    try:
        found = gojson.unmarshal(answer.body, keep_numbers=True)
    except Malformed:
        answer.json()  # says what it is instead
        raise
    if is_object(found):
        return found
    raise Malformed(
        f"{answer.doing}: the answer is JSON of another shape than Vault's", hint="check the store's server"
    )


def _not_found(answer: Answer) -> Absent:
    """Absence is what Vault says with an empty list of errors; all else with this status is a mistake."""
    document = _document(answer)
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
            return Unavailable(
                f"{doing}: this node is a standby that serves no requests (HTTP {answer.status})"
            )


def _bad_request(answer: Answer) -> SyncError:
    body = answer.body.decode("utf-8", "replace")
    if _STALE in body:
        return Stale(f"{answer.doing}: somebody else has written a newer version meanwhile")
    if _CAS_WANTED in body:
        return Rejected(
            f"{answer.doing}: the engine demands check-and-set", hint="set checkAndSet.required in the store"
        )
    return Rejected(f"{answer.doing}: Vault does not accept the request (HTTP 400)")


def number(value: object) -> int:
    """A whole number of an answer; 0 where it is none."""
    try:
        return int(value) if isinstance(value, str | int) else 0
    except ValueError:
        return 0
