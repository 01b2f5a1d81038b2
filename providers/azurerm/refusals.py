"""The errors of the resource manager, by its codes. Its texts are not quoted."""

from http import HTTPStatus
from typing import Final

from syncret.providers.errors import Denied, Unavailable
from syncret.providers.kit.azure.errors import code_of, is_absent
from syncret.providers.kit.http import Unauthenticated
from syncret.providers.kit.rest.api import Refusals, by_code, means

_FOREIGN: Final = means(
    Unauthenticated,
    "Azure does not accept the token",
    hint="is the application of the tenant that the subscription belongs to?",
)
_LOCKED: Final = means(
    Denied,
    "a lock forbids it",
    hint="remove the lock ReadOnly from the resource: it keeps keys from being listed",
)
_CHANGING: Final = means(Unavailable, "the resource is being changed")

REFUSALS: Final = Refusals(
    vendor="Azure Resource Manager",
    check="check AZURE_RESOURCE_MANAGER_ENDPOINT",
    is_absent=is_absent,
    errors={
        HTTPStatus.UNAUTHORIZED: _FOREIGN,
        HTTPStatus.CONFLICT: by_code(code_of, {"ScopeLocked": _LOCKED}, _CHANGING),
    },
)
"""Statuses with details of Azure; all others have their usual meaning."""
