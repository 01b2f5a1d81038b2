"""The generator ACRAccessToken: a login to Azure's container registry."""

from collections.abc import Iterator
from typing import Final, Literal

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.azurekv.receivers import ACCESS, NAME, login_receivers
from syncret.providers.contract import Generated, Generator, OpenContext, Receiver
from syncret.providers.values import SecretBytes

_USER: Final = b"00000000-0000-0000-0000-000000000000"
"""The user name for Azure's registries if the password is a token."""


class AcrServicePrincipalRef(Model):
    """The Secrets with client ID and client secret.

    Example: {clientId: {name: azure-login, key: client-id}, clientSecret: {name: azure-login, key:
    client-secret}}
    """

    client_id: SecretKeySelector | None = None
    """The application's client ID. Example: {name: azure-login, key: client-id}"""
    client_secret: SecretKeySelector | None = None
    """The application's client secret: its value, not its ID.
    Example: {name: azure-login, key: client-secret}"""


class AcrServicePrincipal(Model):
    """An application registered with Entra ID; needs `tenantId`."""

    secret_ref: AcrServicePrincipalRef
    """The Secrets with its credentials."""


class AcrManagedIdentity(Model):
    """The managed identity of the machine; the ID selects one of several."""

    identity_id: str = ""
    """Client ID or resource ID of the identity, if the machine has several.
    Example: 6d1f9f4e-3a52-4b8e-9d54-1f0f6a0c1b7e"""


class AcrWorkloadIdentity(Model):
    """The identity that a ServiceAccount is annotated with; absent: the daemon's own.

    Example: {serviceAccountRef: {name: app}}
    """

    service_account_ref: ServiceAccountSelector | None = None
    """The ServiceAccount whose token is exchanged. Example: {name: app}"""


class AcrAuth(Model):
    """How to log in to Azure: one of the three.

    Example: {managedIdentity: {}}
    """

    service_principal: AcrServicePrincipal | None = None
    """An application with its client secret; needs `tenantId`."""
    managed_identity: AcrManagedIdentity | None = None
    """The machine's own identity. Example: {}"""
    workload_identity: AcrWorkloadIdentity | None = None
    """The identity of a ServiceAccount; needs an API server that Azure trusts."""


class AcrAccessTokenSpec(Model):
    """A token for one registry, as user name and password.

    Example: {registry: example.azurecr.io, auth: {managedIdentity: {}}}
    """

    auth: AcrAuth
    """Who asks for the token."""
    registry: str
    """Host of the registry. Example: example.azurecr.io"""
    scope: str = ""
    """What the token allows; absent: a refresh token for all that the identity may do.
    Example: repository:app:pull,push"""
    tenant_id: str = ""
    """ID of the tenant of the identity; required for `servicePrincipal`.
    Example: 0b7d7c1e-8f0a-4a6c-9a55-7f3f2f1f0a11"""
    environment_type: Literal[
        "PublicCloud", "USGovernmentCloud", "ChinaCloud", "GermanCloud", "AzureStackCloud"
    ] = "PublicCloud"
    """The cloud, which decides where the generator logs in. Example: USGovernmentCloud"""


async def generate(spec: AcrAccessTokenSpec, context: OpenContext) -> Generated:
    """A login for the registry. The token ends by itself; there is nothing to clean up."""
    from syncret.providers.azurekv.registry import registry_token  # imports asyncio and TLS
    from syncret.providers.kit.http import Http

    async with Http(f"https://{spec.registry}", now=context.now, network=context.network) as http:
        password = await registry_token(spec, http, context)
    return Generated({"username": SecretBytes(_USER), "password": password})


def receivers(spec: AcrAccessTokenSpec) -> Iterator[Receiver]:
    """The registry, and the login endpoint, unless the generator names credentials."""
    auth = spec.auth
    if auth.service_principal is not None:
        return
    workload = auth.workload_identity
    federated = auth.managed_identity is None and workload is not None and not workload.service_account_ref
    if federated:
        yield from login_receivers(spec.environment_type)
    if federated or auth.managed_identity is not None:
        yield Receiver(NAME, f"https://{spec.registry}", ACCESS, "registry")


ACR: Final = Generator(SpecType("ACRAccessToken", AcrAccessTokenSpec), generate=generate, receivers=receivers)
