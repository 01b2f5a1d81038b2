"""Key Vault passes the suite, on a server that Azure's own clients prove."""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector
from syncret.providers.azurekv import PROVIDER
from syncret.providers.azurekv.spec import AzureKvSpec, AzureSecretRef
from syncret.providers.contract import Client
from syncret.providers.testing import Ability, Entry, Fault, Harness, HoldsText, ProviderSuite
from tests.support.opened import NOW, Given, context
from tests.support.servers.azure.directory import TENANT
from tests.support.servers.azure.errors import VaultError, forbidden
from tests.support.servers.azure.server import Azure, azure
from tests.support.servers.azure.variables import variables

ID, SECRET = (SecretKeySelector(name="login", key=key) for key in ("id", "secret"))
WHOLE = "ESO pushes whole values to Key Vault and passes over the property"


class AzureKvHarness(HoldsText):
    """A vault with an application that may do everything there."""

    lacks: Mapping[Ability, str] = {
        Ability.FIND_PATH: "Key Vault has no folders",
        Ability.PUSH_PROPERTY: WHOLE,
        Ability.DELETE_PROPERTY: WHOLE,
    }
    versions: tuple[str, str] = ("0" * 31 + "1", "0" * 31 + "2")

    def __init__(self, cloud: Azure) -> None:
        self._cloud = cloud
        self._application = cloud.member("syncret", secret="canary-secret-1")
        login = {"id": self._application.client_id.encode(), "secret": b"canary-secret-1\n"}
        self._given = Given(secrets={"login": login})

    @property
    def canaries(self) -> tuple[str, ...]:
        return ("canary-secret", *self._cloud.directory.tokens)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            fields = {"value": entry.value.decode()}
            self._cloud.vault.add(
                f"secrets/{entry.key}", fields, {"tags": dict(entry.tags)}, name=entry.version
            )

    async def stored(self, key: str) -> bytes | None:
        item = self._cloud.vault.items.get(f"secrets/{key}")
        return None if item is None else item.versions[-1].fields["value"].encode()

    async def writes(self) -> int:
        return self._cloud.vault.writes

    def open(self) -> AbstractAsyncContextManager[Client]:
        assert PROVIDER.open is not None
        ref = AzureSecretRef(client_id=ID, client_secret=SECRET)
        spec = AzureKvSpec(vault_url=self._cloud.url, tenant_id=TENANT, auth_secret_ref=ref)
        return PROVIDER.open(spec, context(self._given))

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        return self._cloud.failing(lambda request: _answer(fault, request) if _reads(request) else None)

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        self._cloud.vault.refused.add(key)
        yield
        self._cloud.vault.refused.remove(key)

    async def rotate(self) -> None:
        """The old secret is removed, and every token that it was exchanged for is void."""
        self._application.secrets = {"canary-secret-2"}
        self._cloud.directory.expire_tokens()
        login = {"id": self._application.client_id.encode(), "secret": b"canary-secret-2"}
        self._given.secrets["login"] = login


def _reads(request: web.Request) -> bool:
    return request.path.startswith("/secrets/")


def _answer(fault: Fault, request: web.Request) -> web.StreamResponse:
    match fault:
        case Fault.THROTTLE:
            text = "Request was not processed because too many requests were received."
            return VaultError(429, "Throttled", text).response({"Retry-After": "7"})
        case Fault.DENY:
            return forbidden("Caller is not authorized to perform action on resource.").response()
        case Fault.TIME_OUT:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()


class TestSecrets(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with azure(lambda: NOW) as cloud:
            for name, value in variables(cloud).items():
                monkeypatch.setenv(name, value)
            yield AzureKvHarness(cloud)
