"""Error responses of Google's APIs and token endpoints as our errors, with hints."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit.auth.refused import RefusedLogin

if TYPE_CHECKING:  # imports TLS
    from syncret.providers.kit.http import Answer

EXPECTED: Final = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
)
"""Statuses that `error_of` handles; all others mean at Google what they mean everywhere."""

ELSEWHERE: Final = "is there a proxy in between, or another server at the endpoint?"
"""The hint if the answer is none of Google's."""

_ABSENT: Final = "NOT_FOUND"
_OAUTH: Final = {
    "access_denied": "the account may not do this",
    "invalid_client": "the client ID and its secret do not fit",
    "invalid_grant": "the key or token is wrong, deleted or expired; is the machine's clock right?",
    "invalid_request": "is the audience the full name of the workload identity pool's provider?",
    "invalid_scope": "the account cannot have the scope cloud-platform",
    "invalid_target": "the audience names no workload identity pool's provider that exists and is enabled",
    "unauthorized_client": "the account is disabled, or may not log in this way",
}
_REASONS: Final = {
    "SERVICE_DISABLED": "enable the API in the project",
    "ACCESS_TOKEN_SCOPE_INSUFFICIENT": "the machine's account needs the scope cloud-platform",
    "SECURITY_POLICY_VIOLATED": "VPC Service Controls forbid it from here",
    "USER_PROJECT_DENIED": "grant roles/serviceusage.serviceUsageConsumer in the quota project",
}


class Conflict(Unavailable):
    """The entry was changed or created meanwhile; a retry sees the new state."""


class Unusable(Malformed):
    """The version exists, but is disabled or destroyed."""


class _Detail(msgspec.Struct):
    reason: str = ""


class _Error(msgspec.Struct):
    status: str = ""
    message: str = ""
    details: list[_Detail] = []


class _Failure(msgspec.Struct):
    error: _Error


class _OAuthFailure(msgspec.Struct):
    error: str = ""


def _error_in(answer: "Answer") -> _Error:
    failure = answer.decode_if(_Failure)
    return failure.error if failure is not None else _Error()


def is_absent(answer: "Answer") -> bool:
    """Whether Google itself says that something does not exist."""
    return _error_in(answer).status == _ABSENT


def error_of(answer: "Answer", *, allow: str) -> SyncError | None:
    """The error for a response whose status is among EXPECTED; None for "not found".

    `allow` is what to grant if the caller is not allowed.
    """
    error = _error_in(answer)
    if answer.status == HTTPStatus.FORBIDDEN:
        reasons = [_REASONS[each.reason] for each in error.details if each.reason in _REASONS]
        return Denied(f"{answer.doing}: permission denied", hint=reasons[0] if reasons else allow)
    if answer.status == HTTPStatus.NOT_FOUND and error.status == _ABSENT:
        return None
    if answer.status == HTTPStatus.NOT_FOUND:
        return Malformed(f"{answer.doing}: HTTP 404, but not from Google's API", hint=ELSEWHERE)
    if answer.status == HTTPStatus.CONFLICT:
        return Conflict(f"{answer.doing}: another program changed it at the same time")
    if error.status == "FAILED_PRECONDITION":
        if "DISABLED state" in error.message or "DESTROYED state" in error.message:
            return Unusable(
                f"{answer.doing}: the version is disabled or destroyed",
                hint="enable it, add another, or set secretVersionSelectionPolicy to LatestOrFetch",
            )
        return Malformed(
            f"{answer.doing}: its state does not allow this",
            hint="was it changed at the same time, or can its encryption key or a topic not be used?",
        )
    return Malformed(
        f"{answer.doing}: Google finds the request invalid",
        hint="check project, location, key, version and metadata",
    )


def login_error_of(answer: "Answer") -> SyncError:
    """The error of a token endpoint. Only codes of RFC 6749 are quoted, never its text."""
    failure = answer.decode_if(_OAuthFailure)
    if failure is not None and failure.error in _OAUTH:
        return RefusedLogin(
            f"{answer.doing}: Google refuses the login (HTTP {answer.status}, {failure.error})",
            hint=_OAUTH[failure.error],
        )
    return RefusedLogin(f"{answer.doing}: Google refuses the login (HTTP {answer.status})")
