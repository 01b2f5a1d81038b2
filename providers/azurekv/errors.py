"""Key Vault's error responses as our errors, with hints."""

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable

if TYPE_CHECKING:  # imports TLS
    from syncret.providers.kit.http import Answer

EXPECTED: Final = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
)
"""Statuses that `error_of` handles; all others mean at Azure what they mean everywhere."""

_TENANT: Final = re.compile(r'authorization(?:_uri)?="https?://[^/"]+/([0-9a-fA-F-]{36})[/"]')
_DENIED: Final = {
    "ForbiddenByFirewall": "the vault's firewall does not let this address in",
    "ForbiddenByConnection": "the vault lets in private endpoints only",
    "ForbiddenByPolicy": "the vault's access policies do not allow it: add the identity",
    "AccessDenied": "the vault's access policies do not allow it: add the identity",
}


class _Inner(msgspec.Struct):
    code: str = ""


class _Error(msgspec.Struct):
    code: str = ""
    innererror: _Inner | None = None


class _Failure(msgspec.Struct):
    error: _Error


def error_of(answer: "Answer", *, allow: str) -> SyncError | None:
    """The error for a response whose status is among EXPECTED; None for "not found".

    `allow` is what to grant if the caller is not allowed.
    """
    failure = answer.decode_if(_Failure)
    error = failure.error if failure is not None else _Error()
    inner = error.innererror.code if error.innererror else ""
    if answer.status == HTTPStatus.UNAUTHORIZED:
        return _unauthenticated_error(answer)
    if answer.status == HTTPStatus.FORBIDDEN:
        if inner.endswith("Disabled"):
            return Denied(f"{answer.doing}: it is disabled", hint="enable it, or name another version")
        return Denied(f"{answer.doing}: permission denied", hint=_DENIED.get(inner, allow))
    if answer.status == HTTPStatus.NOT_FOUND and error.code.endswith("NotFound"):
        return None
    if answer.status == HTTPStatus.NOT_FOUND:
        return Malformed(f"{answer.doing}: HTTP 404, but not from Key Vault", hint="check vaultUrl")
    if answer.status == HTTPStatus.CONFLICT:
        return _conflict_error(answer, inner)
    return Malformed(
        f"{answer.doing}: Key Vault finds the request invalid", hint="check key, version, value and metadata"
    )


def _unauthenticated_error(answer: "Answer") -> SyncError:
    from syncret.providers.kit.http import Unauthenticated  # see above

    found = _TENANT.search(answer.headers.get("www-authenticate", ""))
    tenant = f" of tenant {found[1]}" if found else ""
    return Unauthenticated(
        f"{answer.doing}: the vault does not accept the token (HTTP {answer.status})",
        hint=f"it takes tokens{tenant} only: check tenantId, environmentType and vaultUrl",
    )


def _conflict_error(answer: "Answer", inner: str) -> SyncError:
    if inner == "ObjectIsDeletedButRecoverable":
        return Malformed(
            f"{answer.doing}: it was deleted, and can still be recovered",
            hint="recover it or purge it, or push to another remoteKey",
        )
    return Unavailable(f"{answer.doing}: another change of it is under way")
