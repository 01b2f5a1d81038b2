"""Secrets Manager passes the suite by name and by id, on a server that IBM's SDK proves."""

import json
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from uuid import NAMESPACE_DNS, uuid5

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import Client
from syncret.providers.ibm import PROVIDER
from syncret.providers.ibm.spec import IbmAuth, IbmSecretRef, IbmSpec
from syncret.providers.testing import Ability, Entry, Fault, Harness, ProviderSuite
from tests.suites.providers.rest_harness import finds_nothing, read_only
from tests.support.opened import NOW, Given, context
from tests.support.servers.ibm.errors import IbmError
from tests.support.servers.ibm.secrets import Secret
from tests.support.servers.ibm.server import Ibm, ibm

ABSENT = "as ESO has it, an IBM secret that does not exist is an error, so that no deletionPolicy acts"
NO_FIND = "ESO's ibm provider finds nothing: a manifest that counts on it would work here alone"
NO_PUSH = "ESO's ibm provider is read only"
VERSIONS = "ESO's ibm provider reads the current version, whatever is written"


class IbmHarness:
    """An instance with a service id that may do everything; the secrets are key-value ones of a group."""

    lacks: Mapping[Ability, str] = {
        **read_only(NO_PUSH),
        Ability.ABSENCE: ABSENT,
        Ability.VERSION: VERSIONS,
        **finds_nothing(NO_FIND),
    }
    versions: tuple[str, str] = ("", "")

    def __init__(self, cloud: Ibm, *, by_id: bool) -> None:
        self._cloud = cloud
        self._by_id = by_id
        self._group = cloud.manager.group("team")
        self._given = Given(secrets={"login": {"key": cloud.service("syncret").encode()}})

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self._given.secrets["login"]["key"].decode(), *self._cloud.identity.issued)

    def whole(self, text: str) -> bytes:
        return json.dumps({"value": text}, separators=(",", ":")).encode()

    def key(self, name: str) -> str:
        return f"kv/{_id(name)}" if self._by_id else f"team/kv/{name}"

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            name = entry.key.rpartition("/")[2]
            secret = self._cloud.manager.seed("kv", name, self._group.id, data=json.loads(entry.value))
            if self._by_id:
                self._cloud.manager.secrets[name] = self._cloud.manager.secrets.pop(secret.id)
                secret.id = name

    async def stored(self, key: str) -> bytes | None:
        secret = self._secret(key)
        return None if secret is None else json.dumps(secret.current.data["data"]).encode()

    async def writes(self) -> int:
        return sum(not call.startswith("GET") for call in self._cloud.manager.calls)

    def open(self) -> AbstractAsyncContextManager[Client]:
        selector = SecretKeySelector(name="login", key="key")
        secret_ref = IbmSecretRef(secret_api_key_secret_ref=selector, iam_endpoint=self._cloud.url)
        assert PROVIDER.open is not None
        spec = IbmSpec(service_url=self._cloud.url, auth=IbmAuth(secret_ref=secret_ref))
        return PROVIDER.open(spec, context(self._given))

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        return self._cloud.failing(lambda request: _answer(fault, request) if _reads(request) else None)

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        secret = self._secret(key)
        assert secret is not None
        self._cloud.manager.refused.add(secret.id)
        yield
        self._cloud.manager.refused.remove(secret.id)

    async def rotate(self) -> None:
        """The service id is deleted with its keys, and all its tokens are void."""
        self._cloud.identity.keys.clear()
        self._cloud.identity.void.add("iam-ServiceId-syncret")
        self._given.secrets["login"] = {"key": self._cloud.service("syncret-2").encode()}

    def _secret(self, key: str) -> Secret | None:
        return self._cloud.manager.find("kv", key.rpartition("/")[2], self._group.id)


def _id(name: str) -> str:
    return str(uuid5(NAMESPACE_DNS, name))


def _reads(request: web.Request) -> bool:
    return request.path.startswith("/api/")


def _answer(fault: Fault, request: web.Request) -> web.StreamResponse:
    match fault:
        case Fault.THROTTLE:
            return IbmError("too_many_requests", "Too many requests.").response(**{"Retry-After": "7"})
        case Fault.DENY:
            return IbmError("forbidden", "You are not authorized.").response()
        case Fault.TIME_OUT:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()


class _OnIbm(ProviderSuite):
    by_id = False

    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with ibm(lambda: NOW) as cloud:
            yield IbmHarness(cloud, by_id=self.by_id)


class TestByName(_OnIbm):
    pass


class TestById(_OnIbm):
    by_id = True
