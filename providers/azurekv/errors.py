"""Key Vault's error responses as our errors, with hints."""

import re
from http import HTTPStatus
from typing import Final

from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit.azure.errors import code_of, inner_code_of
from syncret.providers.kit.http import Answer, Unauthenticated
from syncret.providers.kit.rest.api import Refusals, by_code, means
from syncret.providers.kit.rest.endpoints import Endpoint

_TENANT: Final = re.compile(r'authorization(?:_uri)?="https?://[^/"]+/([0-9a-fA-F-]{36})[/"]')
_ABSENT: Final = frozenset({"SecretNotFound", "KeyNotFound", "CertificateNotFound"})
"""Others, such as `ResourceNotFound`, are about the vault."""
_DENIED: Final = {
    "ForbiddenByFirewall": "the vault's firewall does not let this address in",
    "ForbiddenByConnection": "the vault lets in private endpoints only",
    "ForbiddenByPolicy": "the vault's access policies do not allow it: add the identity",
    "AccessDenied": "the vault's access policies do not allow it: add the identity",
}


def _denied(answer: Answer, endpoint: Endpoint) -> SyncError:
    inner = inner_code_of(answer)
    if inner.endswith("Disabled"):
        return Denied(f"{answer.doing}: it is disabled", hint="enable it, or name another version")
    return Denied(f"{answer.doing}: permission denied", hint=_DENIED.get(inner, endpoint.grant))


def _unauthenticated(answer: Answer, _endpoint: Endpoint) -> SyncError:
    found = _TENANT.search(answer.headers.get("www-authenticate", ""))
    tenant = f" of tenant {found[1]}" if found else ""
    return Unauthenticated(
        f"{answer.doing}: the vault does not accept the token (HTTP {answer.status})",
        hint=f"it takes tokens{tenant} only: check tenantId, environmentType and vaultUrl",
    )


_INVALID: Final = means(
    Malformed, "Key Vault finds the request invalid", hint="check key, version, value and metadata"
)
_RECOVERABLE: Final = means(
    Malformed,
    "it was deleted, and can still be recovered",
    hint="recover it or purge it, or push to another remoteKey",
)
_CHANGING: Final = means(Unavailable, "another change of it is under way")

REFUSALS: Final = Refusals(
    vendor="Key Vault",
    check="check vaultUrl",
    is_absent=lambda answer: code_of(answer) in _ABSENT,
    errors={
        HTTPStatus.BAD_REQUEST: _INVALID,
        HTTPStatus.UNAUTHORIZED: _unauthenticated,
        HTTPStatus.FORBIDDEN: _denied,
        HTTPStatus.CONFLICT: by_code(
            inner_code_of, {"ObjectIsDeletedButRecoverable": _RECOVERABLE}, _CHANGING
        ),
    },
)
"""Statuses with details of Key Vault; all others have their usual meaning."""
