"""The workload identity of a ServiceAccount: its annotations name the application that trusts its tokens."""

from typing import Final

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import OpenContext
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.azure import entra
from syncret.providers.kit.azure.entra import Application, Login
from syncret.providers.kit.http import Http
from syncret.providers.values import SecretBytes

CLIENT_ID: Final = "azure.workload.identity/client-id"
TENANT_ID: Final = "azure.workload.identity/tenant-id"
"""Annotations of a ServiceAccount with the application it is federated with."""

_HOUR: Final = 3600


def workload_login(
    http: Http, application: Application, account: ServiceAccountSelector, context: OpenContext
) -> Login:
    """The workload identity of a ServiceAccount; each login requests a new token of it."""

    async def login() -> ExpiringValue[SecretBytes]:
        issued = await context.credentials.account_token(
            account.name,
            audiences=(entra.AUDIENCE, *account.audiences),
            seconds=_HOUR,
            namespace=account.namespace,
        )
        return await entra.log_in_with_token(http, application, issued.token, context.now)

    return login
