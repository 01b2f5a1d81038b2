"""What tests of this provider open, seed and read."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from syncret.config.fields import SecretKeySelector
from syncret.providers.azurekv.client import AzureKvClient
from syncret.providers.azurekv.connection import open_store
from syncret.providers.azurekv.spec import AzureKvSpec, AzureSecretRef
from syncret.providers.errors import SyncError
from syncret.providers.values import RemoteRef, SecretMap
from syncret.providers.work import Work
from tests.support.opened import Clock, Given, context
from tests.support.servers.azure.directory import TENANT
from tests.support.servers.azure.objects import Version
from tests.support.servers.azure.server import Azure

SECRET: Final = "canary-client-secret"
OURS: Final = {"managed-by": "external-secrets"}


def key(name: str) -> SecretKeySelector:
    """One of the Secret `login`."""
    return SecretKeySelector(name="login", key=name)


BY_SECRET: Final = AzureSecretRef(client_id=key("id"), client_secret=key("secret"))


def opened(
    cloud: Azure,
    given: Given,
    clock: Clock,
    **spec: Any,  # noqa: ANN401  # fields of the spec
) -> AbstractAsyncContextManager[AzureKvClient]:
    """A client of the vault; with a client secret by default."""
    fields: dict[str, Any] = {
        "vault_url": f"{cloud.url}/",
        "tenant_id": TENANT,
        "auth_secret_ref": BY_SECRET,
        **spec,
    }
    return open_store(AzureKvSpec(**fields), context(given, now=clock))


def seed(
    cloud: Azure, name: str, value: str, tags: dict[str, str] | None = None, **attributes: int
) -> Version:
    """Another version of a secret, put there by others."""
    body = {"tags": tags or {}, "attributes": attributes}
    return cloud.vault.add(f"secrets/{name}", {"value": value}, body)


async def read(client: AzureKvClient, ref: RemoteRef) -> bytes | None:
    """One value; None where it is absent."""
    key = client.remote_key(ref)
    payload = (await client.fetch([key])).get(key)
    if isinstance(payload, SyncError):
        raise payload
    value = None if payload is None else client.value(payload, ref, Work())
    return None if value is None else value.raw


async def extract(client: AzureKvClient, ref: RemoteRef) -> dict[str, bytes]:
    key = client.remote_key(ref)
    payload = (await client.fetch([key]))[key]
    if isinstance(payload, SyncError):
        raise payload
    return raw(client.fields(payload, ref, Work()) or {})


def raw(found: SecretMap) -> dict[str, bytes]:
    return {key: value.raw for key, value in found.items()}


async def reads(cloud: Azure, given: Given, clock: Clock, **spec: Any) -> bytes | None:  # noqa: ANN401  # fields
    """The value of the secret `db`, read by one who logs in like this."""
    seed(cloud, "db", "one")
    async with opened(cloud, given, clock, **spec) as client:
        return await read(client, RemoteRef("db"))
