"""What the status of a call means. Its message is the server's, and is quoted nowhere.

https://grpc.github.io/grpc/core/md_doc_statuscodes.html, https://google.aip.dev/193 (details, RetryInfo)
"""

from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from enum import IntEnum
from typing import Final

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.grpc.messages import Message
from syncret.providers.kit.http import Unauthenticated

_LONGEST: Final = 86_400.0
_DETAILS: Final = "grpc-status-details-bin"
_RETRY_INFO: Final = "google.rpc.RetryInfo"


class Status(IntEnum):
    """Codes of gRPC."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


_REFUSED: Final = frozenset(
    {Status.INVALID_ARGUMENT, Status.ALREADY_EXISTS, Status.FAILED_PRECONDITION, Status.OUT_OF_RANGE}
)


class NotFound(Malformed):
    """The manager itself says that there is no such entry."""


def status_of(trailers: Mapping[str, str]) -> Status | None:
    """The status that ends a call; None if there is none."""
    text = trailers.get("grpc-status", "")
    if not text.isascii() or not text.isdecimal():
        return None
    with suppress(ValueError):
        return Status(int(text))
    return Status.UNKNOWN


def error_of(status: Status, trailers: Mapping[str, str], doing: str, grant: str) -> SyncError:
    """The error for any status but OK."""
    name = f"gRPC status {status.name}"
    after = retry_after(trailers)
    if status is Status.UNAUTHENTICATED:
        return Unauthenticated(
            f"{doing}: {name}: the credentials are wrong or expired", hint="check what the store refers to"
        )
    if status is Status.PERMISSION_DENIED:
        return Denied(f"{doing}: permission denied", hint=grant)
    if status is Status.NOT_FOUND:
        return NotFound(f"{doing}: it does not exist", hint="check remoteRef")
    if status is Status.RESOURCE_EXHAUSTED or (status is Status.UNAVAILABLE and after is not None):
        hint = "the server allows fewer calls: lower syncret.dev/requests-per-second of the store"
        return Throttled(f"{doing}: {name}", retry_after=after, hint=hint)
    if status is Status.UNIMPLEMENTED:
        return Malformed(f"{doing}: {name}", hint="does the address lead to this API?")
    if status in _REFUSED:
        return Malformed(f"{doing}: {name}", hint="check remoteRef")
    return Unavailable(f"{doing}: {name}")


def retry_after(trailers: Mapping[str, str]) -> float | None:
    """The seconds that the server asks to wait, in the details of the status; None if it does not."""
    details = trailers.get(_DETAILS, "")
    with suppress(ValueError, Malformed):  # details that are none say nothing
        for detail in Message(b64decode(details + "=" * (-len(details) % 4)), "").messages(3):
            if detail.text(1).rpartition("/")[2] == _RETRY_INFO:
                for delay in Message(detail.raw(2) or b"", "").messages(1):
                    seconds = delay.integer(1) + delay.integer(2) / 1e9
                    return min(max(0.0, seconds), _LONGEST)
    return None
