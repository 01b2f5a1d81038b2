"""The errors of the resource manager, by its codes. Its texts are not quoted."""

from http import HTTPStatus
from typing import Final

from syncret.providers.errors import Denied, SyncError, Unavailable
from syncret.providers.kit.azure.errors import code_of, is_absent
from syncret.providers.kit.http import Answer, Unauthenticated
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.endpoints import Endpoint


def _unauthenticated(answer: Answer, _endpoint: Endpoint) -> SyncError:
    return Unauthenticated(
        f"{answer.doing}: Azure does not accept the token",
        hint="is the application of the tenant that the subscription belongs to?",
    )


def _conflict(answer: Answer, _endpoint: Endpoint) -> SyncError:
    if code_of(answer) == "ScopeLocked":
        return Denied(
            f"{answer.doing}: a lock forbids it",
            hint="remove the lock ReadOnly from the resource: it keeps keys from being listed",
        )
    return Unavailable(f"{answer.doing}: the resource is being changed")


REFUSALS: Final = Refusals(
    vendor="Azure Resource Manager",
    check="check AZURE_RESOURCE_MANAGER_ENDPOINT",
    is_absent=is_absent,
    errors={HTTPStatus.UNAUTHORIZED: _unauthenticated, HTTPStatus.CONFLICT: _conflict},
)
"""Statuses with details of Azure; all others have their usual meaning."""
