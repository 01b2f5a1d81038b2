"""Secret Manager passes the suite with global and regional secrets, on a server that Google's SDK proves."""

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
from syncret.providers.contract import Client
from syncret.providers.gcpsm import PROVIDER
from syncret.providers.gcpsm.spec import GcpAuth, GcpSecretRef, GcpSmSpec
from syncret.providers.testing import Ability, Entry, Fault, Harness, HoldsText, ProviderSuite
from tests.support.opened import NOW, Given, context
from tests.support.servers.google.errors import GoogleError
from tests.support.servers.google.secrets import Secret
from tests.support.servers.google.server import Google, google
from tests.support.servers.google.variables import variables


class GcpSmHarness(HoldsText):
    """A project with a service account that may do everything there."""

    lacks: Mapping[Ability, str] = {
        Ability.FIND_PATH: "Secret Manager has no folders; a path narrows finding by name or tags",
    }
    versions: tuple[str, str] = ("1", "2")

    def __init__(self, cloud: Google, place: str) -> None:
        self._cloud = cloud
        self._place = place
        self._manager = cloud.managers[place]
        self._email = cloud.identity.account("syncret")
        self._given = Given(secrets={"key": {"key.json": cloud.identity.key_json(self._email)}})

    @property
    def canaries(self) -> tuple[str, ...]:
        key = self._cloud.identity.key_file(self._email)["private_key"]
        return (*key.splitlines()[1:3], *self._cloud.identity.tokens)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            name = self._name(entry.key)
            secret = self._manager.secrets.setdefault(
                name, Secret(name, NOW, {"replication": {"automatic": {}}, "labels": dict(entry.tags)})
            )
            secret.add(entry.value, None, lambda: NOW)

    async def stored(self, key: str) -> bytes | None:
        secret = self._manager.secrets.get(self._name(key))
        return secret.versions[-1].payload if secret is not None and secret.versions else None

    async def writes(self) -> int:
        return self._manager.writes

    def open(self) -> AbstractAsyncContextManager[Client]:
        selector = SecretKeySelector(name="key", key="key.json")
        auth = GcpAuth(secret_ref=GcpSecretRef(secret_access_key_secret_ref=selector))
        assert PROVIDER.open is not None
        spec = GcpSmSpec(project_id="acme", location=self._place or None, auth=auth)
        return PROVIDER.open(spec, context(self._given))

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        return self._cloud.failing(lambda request: _answer(fault, request) if _reads(request) else None)

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        self._manager.refused.add(key)
        yield
        self._manager.refused.remove(key)

    async def rotate(self) -> None:
        """The old key is deleted, and with it every token that it was exchanged for."""
        self._cloud.identity.disable_keys(self._email)
        self._given.secrets["key"] = {"key.json": self._cloud.identity.key_json(self._email, key="key-2")}

    def _name(self, key: str) -> str:
        place = f"/locations/{self._place}" if self._place else ""
        return f"projects/{self._cloud.identity.projects['acme']}{place}/secrets/{key}"


def _reads(request: web.Request) -> bool:
    return request.path.startswith("/v1/projects/acme/")


def _answer(fault: Fault, request: web.Request) -> web.StreamResponse:
    match fault:
        case Fault.THROTTLE:
            text = (
                "Quota exceeded for quota metric 'Access requests' of service 'secretmanager.googleapis.com'"
            )
            return GoogleError("RESOURCE_EXHAUSTED", text).response(**{"Retry-After": "7"})
        case Fault.DENY:
            text = "Permission 'secretmanager.versions.access' denied for resource (or it may not exist)."
            return GoogleError("PERMISSION_DENIED", text).response()
        case Fault.TIME_OUT:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()


class _OnGoogle(ProviderSuite):
    place = ""

    @pytest.fixture
    @asynccontextmanager
    async def harness(self, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Harness]:
        async with google(lambda: NOW) as cloud:
            for name, value in variables(cloud, self.place).items():
                monkeypatch.setenv(name, value)
            yield GcpSmHarness(cloud, self.place)


class TestGlobal(_OnGoogle):
    pass


class TestRegional(_OnGoogle):
    place = "us-east1"
