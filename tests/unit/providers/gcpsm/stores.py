"""What tests of this provider open, seed and read."""

from contextlib import AbstractAsyncContextManager

from syncret.config.fields import SecretKeySelector
from syncret.providers.errors import SyncError
from syncret.providers.gcpsm.client import GcpSmClient
from syncret.providers.gcpsm.connection import open_store
from syncret.providers.gcpsm.spec import GcpAuth, GcpSecretRef, GcpSmSpec
from syncret.providers.values import RemoteRef, SecretMap
from syncret.providers.work import Work
from tests.support.opened import NOW, Clock, Given, context
from tests.support.servers.google.secrets import Secret
from tests.support.servers.google.server import Google

BY_KEY = GcpAuth(
    secret_ref=GcpSecretRef(secret_access_key_secret_ref=SecretKeySelector(name="key", key="key.json"))
)
"""Logs in with the key in the Secret `key`."""


def opened(
    given: Given, clock: Clock, auth: GcpAuth = BY_KEY, **spec: str | None
) -> AbstractAsyncContextManager[GcpSmClient]:
    """A client of project acme."""
    fields: dict[str, str | None] = {"project_id": "acme", **spec}
    return open_store(
        GcpSmSpec(
            auth=auth,
            project_id=fields["project_id"],
            location=fields.get("location"),
            secret_version_selection_policy=fields.get("policy") or "LatestOrFail",
        ),
        context(given, now=clock),
    )


def seed(cloud: Google, name: str, *values: bytes, place: str = "", **config: object) -> Secret:
    """A secret with these versions that others have made."""
    manager = cloud.managers[place]
    within = f"/locations/{place}" if place else ""
    full = f"projects/{cloud.identity.projects['acme']}{within}/secrets/{name}"
    replication: dict[str, object] = {} if place else {"replication": {"automatic": {}}}
    secret = manager.secrets[full] = Secret(full, NOW, {**replication, **config})
    for value in values:
        secret.add(value, None, lambda: NOW)
    return secret


async def read(client: GcpSmClient, ref: RemoteRef) -> bytes | None:
    """One value; None where it is absent."""
    payload = (await client.fetch([ref.remote_key()])).get(ref.remote_key())
    if isinstance(payload, SyncError):
        raise payload
    value = None if payload is None else client.value(payload, ref, Work())
    return None if value is None else value.raw


async def extract(client: GcpSmClient, ref: RemoteRef) -> dict[str, bytes]:
    payload = (await client.fetch([ref.remote_key()]))[ref.remote_key()]
    if isinstance(payload, SyncError):
        raise payload
    return raw(client.fields(payload, ref, Work()) or {})


def raw(found: SecretMap) -> dict[str, bytes]:
    return {key: value.raw for key, value in found.items()}
