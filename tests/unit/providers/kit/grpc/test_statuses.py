"""What the status of a call means to the engine, and how long the server asks to wait."""

from base64 import b64encode

import pytest

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.grpc.messages import encoded
from syncret.providers.kit.grpc.statuses import NotFound, Status, error_of, retry_after, status_of
from syncret.providers.kit.http import Unauthenticated


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.CANCELLED, Unavailable),
        (Status.UNKNOWN, Unavailable),
        (Status.INVALID_ARGUMENT, Malformed),
        (Status.DEADLINE_EXCEEDED, Unavailable),
        (Status.NOT_FOUND, NotFound),
        (Status.ALREADY_EXISTS, Malformed),
        (Status.PERMISSION_DENIED, Denied),
        (Status.RESOURCE_EXHAUSTED, Throttled),
        (Status.FAILED_PRECONDITION, Malformed),
        (Status.ABORTED, Unavailable),
        (Status.OUT_OF_RANGE, Malformed),
        (Status.UNIMPLEMENTED, Malformed),
        (Status.INTERNAL, Unavailable),
        (Status.UNAVAILABLE, Unavailable),
        (Status.DATA_LOSS, Unavailable),
        (Status.UNAUTHENTICATED, Unauthenticated),
    ],
)
def test_errors(status: Status, kind: type[SyncError]) -> None:
    trailers = {"grpc-status": str(status.value), "grpc-message": "canary"}
    error = error_of(status, trailers, "reading a", "grant it")

    assert type(error) is kind
    assert error.message.startswith("reading a: ")
    assert "canary" not in error.message + error.hint


@pytest.mark.parametrize(
    ("text", "status"),
    [("0", Status.OK), ("16", Status.UNAUTHENTICATED), ("99", Status.UNKNOWN), ("", None), ("five", None)],
)
def test_codes(text: str, status: Status | None) -> None:
    assert status_of({"grpc-status": text} if text else {}) is status


def _details(delay: bytes, kind: str = "google.rpc.RetryInfo") -> str:
    info = encoded((1, f"type.googleapis.com/{kind}"), (2, encoded((1, delay))))
    return b64encode(encoded((1, 14), (3, info))).decode()


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        pytest.param(_details(encoded((1, 7))), 7.0, id="seconds"),
        pytest.param(_details(encoded((1, 1), (2, 500_000_000))).rstrip("="), 1.5, id="without padding"),
        pytest.param(_details(encoded((1, -7))), 0.0, id="in the past"),
        pytest.param(_details(encoded((1, 10**9))), 86_400.0, id="a day at most"),
        pytest.param(_details(encoded((1, 7)), "google.rpc.Help"), None, id="other details"),
        pytest.param("%%%", None, id="no base64"),
        pytest.param(b64encode(b"\x0a\x09").decode(), None, id="no message"),
        pytest.param("", None, id="none"),
    ],
)
def test_how_long_to_wait(details: str, seconds: float | None) -> None:
    assert retry_after({"grpc-status-details-bin": details}) == seconds


def test_an_outage_with_a_time_is_a_request_for_fewer_calls() -> None:
    trailers = {"grpc-status-details-bin": _details(encoded((1, 7)))}
    error = error_of(Status.UNAVAILABLE, trailers, "reading a", "")

    assert isinstance(error, Throttled)
    assert error.retry_after == 7.0
