"""Azure Resource Manager: the secrets of Azure's resources, for dynamic exports.

types   the table: which API has which names      picks          names in an answer
plans   from names to calls                       resource_ids   the ID of a resource
reader  calls, within Azure's limits              identities     as whom they are made
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from syncret.config.meta import Document, GroupKind
from syncret.providers.azurerm import plans
from syncret.providers.secret_apis import (
    CredentialName,
    SecretApis,
    SecretApisContext,
    SecretCalls,
    SecretReader,
)


class _AzureApis:
    """Implements SecretApis."""

    def plan(self, kind: GroupKind, resource: Document, names: Collection[str] | None) -> SecretCalls | None:
        return plans.plan(kind, resource, names)

    def credentials(self, resource: Document) -> Sequence[CredentialName]:
        return plans.credentials(resource)

    def open(self, context: SecretApisContext) -> AbstractAsyncContextManager[SecretReader]:
        from syncret.providers.azurerm.reader import open_reader  # imports asyncio and TLS

        return open_reader(context)


SECRET_APIS: Final[SecretApis] = _AzureApis()
