"""The audit log of an API server: who wrote what when, and how it was answered."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct, field

from syncret.config.meta import Document, is_object, member

PREFIX: Final = "replica-"
"""Names of users that are replicas begin so; everybody else is a person."""

_WRITES: Final = ["create", "update", "patch", "delete", "deletecollection"]
POLICY: Final[Document] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitManagedFields": True,
    "rules": [
        {"level": "None", "userGroups": ["system:serviceaccounts"]},
        {"level": "None", "users": ["system:apiserver", "system:anonymous"]},
        {
            "level": "RequestResponse",
            "verbs": _WRITES,
            "resources": [
                {"group": "", "resources": ["secrets"]},
                {"group": "coordination.k8s.io", "resources": ["leases"]},
            ],
        },
        {"level": "Request", "verbs": _WRITES},
        {"level": "None"},
    ],
}
"""Writes alone, with what was sent; also as they come in, as a server that is killed answers nothing."""


class Write(NamedTuple):
    """One write as the server has it."""

    user: str
    verb: str
    resource: str
    """With its subresource: `externalsecrets/status`."""
    namespace: str
    name: str
    received: float
    """Seconds since 1970, by the clock of the server, which is that of the test."""
    answered: float
    """0.0: the server ended before."""
    code: int
    """0: not known."""
    sent: Document
    left: Document
    """The object that the write left, where the policy says so."""

    @property
    def is_done(self) -> bool:
        """Whether it was carried out, for sure."""
        return 200 <= self.code < 300  # of HTTP

    @property
    def is_of_replica(self) -> bool:
        return self.user.startswith(PREFIX)

    @property
    def version(self) -> int:
        """The version that it left; 0 where that is not known."""
        return int(member(self.left, "metadata").get("resourceVersion") or 0)

    def __str__(self) -> str:
        place = "/".join(filter(None, (self.resource, self.namespace, self.name)))
        return f"{self.user} {self.verb} {place} at {self.received:.3f} ({self.code})"


class _About(Struct, rename="camel"):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class _User(Struct):
    username: str


class _Outcome(Struct):
    code: int = 0


class _Line(Struct, rename="camel"):
    audit_id: str = msgspec.field(name="auditID")
    stage: str
    verb: str
    user: _User
    request_received_timestamp: datetime
    stage_timestamp: datetime
    object_ref: _About = field(default_factory=_About)
    response_status: _Outcome = field(default_factory=_Outcome)
    request_object: Any = None
    response_object: Any = None


def _lines(path: Path) -> Iterator[_Line]:
    with path.open("rb") as log:
        for line in log:
            if line.endswith(b"\n"):  # the last one may be under way, or cut off with its server
                try:
                    yield msgspec.json.decode(line, type=_Line)
                except msgspec.MsgspecError:
                    continue  # two halves of lines, where a server was killed between them


def _write(line: _Line) -> Write:
    about = line.object_ref
    is_answered = line.stage == "ResponseComplete"
    return Write(
        user=line.user.username,
        verb=line.verb,
        resource="/".join(filter(None, (about.resource, about.subresource))),
        namespace=about.namespace,
        name=about.name,
        received=line.request_received_timestamp.timestamp(),
        answered=line.stage_timestamp.timestamp() if is_answered else 0.0,
        code=line.response_status.code if is_answered else 0,
        sent=line.request_object if is_object(line.request_object) else {},
        left=line.response_object if is_object(line.response_object) else {},
    )


def writes(path: Path) -> list[Write]:
    """All writes of the log, in the order in which they came in."""
    return in_order(_lines(path))


def in_order(lines: Iterable[_Line]) -> list[Write]:
    found: dict[str, Write] = {}
    for line in lines:
        if line.stage == "ResponseComplete" or line.audit_id not in found:
            found[line.audit_id] = _write(line)
    return sorted(found.values(), key=lambda write: write.received)
