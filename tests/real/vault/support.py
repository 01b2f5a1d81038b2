"""What the tests on a real Vault share: stores of a mount, and logins that may read it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.values import FindQuery, RemoteRef, SecretMap
from syncret.providers.vault.auth_spec import VaultAppRole, VaultAuth
from syncret.providers.vault.client import VaultClient
from syncret.providers.vault.connection import open_store
from syncret.providers.vault.spec import VaultSpec
from syncret.providers.work import Work
from tests.support.opened import Given
from tests.support.servers.vault.running import Vault

READ: Final = "read list"


class Mount:
    """An engine of version 2 with one entry `db`, and a policy that reads it."""

    def __init__(self, server: Vault) -> None:
        self.server = server
        self.path = server.mount(version="2")
        server.write(f"{self.path}/data/db", data={"user": "ada"})
        self.policy = server.policy(**{f"{self.path}/*": READ})

    def app_role(self, **options: str | list[str] | bool) -> tuple[VaultAuth, Given]:
        """A login by AppRole, with options of the role."""
        path = self.server.login("approle")
        role: dict[str, str | list[str] | bool] = {"token_policies": [self.policy], "token_ttl": "20m"}
        self.server.write(f"auth/{path}/role/app", **(role | options))
        role_id = (self.server.read(f"auth/{path}/role/app/role-id") or {})["role_id"]
        secret_id = self.server.write(f"auth/{path}/role/app/secret-id")["data"]["secret_id"]
        selector = SecretKeySelector(name="login", key="secret-id")
        method = VaultAppRole(path=path, role_id=str(role_id), secret_ref=selector)
        return VaultAuth(app_role=method), Given(secrets={"login": {"secret-id": str(secret_id).encode()}})

    def spec(self, auth: VaultAuth | None, *, url: str = "") -> VaultSpec:
        """A store of this mount."""
        return VaultSpec(server=url or self.server.url, path=self.path, auth=auth)


async def found(client: VaultClient, query: FindQuery) -> SecretMap:
    """What a search of a path that exists gives. Raises its SyncError."""
    answer = await client.find(query, unpaced, Work())
    assert answer is not None
    return answer


async def read(client: VaultClient, key: str, name: str = "", *, metadata: bool = False) -> bytes | None:
    """One value, as the engine reads it. Raises its SyncError."""
    ref = RemoteRef(key, name, metadata=metadata)
    payload = (await client.fetch([ref.remote_key()])).get(ref.remote_key())
    if payload is None:
        return None
    if isinstance(payload, SyncError):
        raise payload
    found = client.value(payload, ref, Work())
    return None if found is None else found.raw


@asynccontextmanager
async def opened(spec: VaultSpec, context: OpenContext) -> AsyncGenerator[VaultClient, None]:
    """The client, as the engine opens it."""
    async with open_store(spec, context) as client:
        yield client
