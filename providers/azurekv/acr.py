"""The generator ACRAccessToken: a login to Azure's container registry."""

from collections.abc import Iterator
from typing import Final, Literal

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.azurekv.receivers import ACCESS, NAME, login_receivers
from syncret.providers.contract import Generated, Generator, OpenContext, Receiver, SecretBytes

_USER: Final = b"00000000-0000-0000-0000-000000000000"
"""The user name for Azure's registries if the password is a token."""


class AcrServicePrincipalRef(Model):
    """The Secrets with client ID and client secret."""

    client_id: SecretKeySelector | None = None
    client_secret: SecretKeySelector | None = None


class AcrServicePrincipal(Model):
    """An application registered with Entra ID; needs `tenantId`."""

    secret_ref: AcrServicePrincipalRef


class AcrManagedIdentity(Model):
    """The managed identity of the machine; the ID selects one of several."""

    identity_id: str = ""


class AcrWorkloadIdentity(Model):
    """The identity that a ServiceAccount is annotated with; absent: the daemon's own."""

    service_account_ref: ServiceAccountSelector | None = None


class AcrAuth(Model):
    """How to log in to Azure: one of the three."""

    service_principal: AcrServicePrincipal | None = None
    managed_identity: AcrManagedIdentity | None = None
    workload_identity: AcrWorkloadIdentity | None = None


class AcrAccessTokenSpec(Model):
    """A token for one registry, as user name and password."""

    auth: AcrAuth
    registry: str
    """The host, such as example.azurecr.io."""
    scope: str = ""
    """Such as `repository:app:pull,push`: an access token for that. Absent: a refresh token for all."""
    tenant_id: str = ""
    environment_type: Literal[
        "PublicCloud", "USGovernmentCloud", "ChinaCloud", "GermanCloud", "AzureStackCloud"
    ] = "PublicCloud"


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
