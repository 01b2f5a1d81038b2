"""Secrets of a real API server pass the suite."""

import asyncio
import json
from base64 import b64decode, b64encode
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
from syncret.providers.kit.kube.spec import BearerToken, KubernetesAuth, KubernetesServer
from syncret.providers.kubernetes import PROVIDER
from syncret.providers.kubernetes.spec import KubernetesSpec
from syncret.providers.testing import Ability, Entry, Fault, Harness, ProviderSuite
from tests.support.opened import Given, context
from tests.support.servers.gate import Gate, gate
from tests.support.servers.kube.running import KubeApi, kube_api

pytestmark = pytest.mark.slow

MAY = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "create", "update", "delete"]}


class KubernetesHarness:
    lacks: Mapping[Ability, str] = {
        Ability.VERSION: "the API keeps one version of a Secret",
        Ability.FIND_PATH: "Secrets of a namespace have no paths: they are found by name or labels",
        Ability.OWN: "ESO's kubernetes provider marks nothing, so that labels and data may be merged",
    }
    versions: tuple[str, str] = ("", "")

    def __init__(self, api: KubeApi, way: Gate) -> None:
        self._api = api
        self._gate = way
        self._namespace = api.namespace()
        self._account = api.account(self._namespace, MAY)
        self._token = api.token(self._namespace, self._account)
        self.canaries: tuple[str, ...] = (self._token,)

    def whole(self, text: str) -> bytes:
        return json.dumps({"value": text}, separators=(",", ":"), ensure_ascii=False).encode()

    def key(self, name: str) -> str:
        return name

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            members = json.loads(entry.value)
            data = {key: b64encode(_text(member).encode()).decode() for key, member in members.items()}
            metadata = {"name": entry.key, "labels": dict(entry.tags)}
            self._api.create(self._path(), {"metadata": metadata, "data": data})

    async def stored(self, key: str) -> bytes | None:
        found = self._api.get(f"{self._path()}/{key}")
        if found is None:
            return None
        data = {key: b64decode(value).decode() for key, value in found.get("data", {}).items()}
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()

    async def writes(self) -> int:
        return sum(each.method in {"POST", "PUT"} and "/secrets" in each.path for each in self._gate.passed)

    def open(self) -> AbstractAsyncContextManager[Client]:
        return self._open()

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Client, None]:
        given = Given(secrets={"login": {"token": self._token.encode()}})
        token = BearerToken(bearer_token=SecretKeySelector(name="login", key="token"))
        spec = KubernetesSpec(
            server=KubernetesServer(url=self._gate.url),
            auth=KubernetesAuth(token=token),
            remote_namespace=self._namespace,
        )
        assert PROVIDER.open is not None
        async with PROVIDER.open(spec, context(given)) as client:
            yield client

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        def answer(request: web.Request) -> web.StreamResponse:
            match fault:
                case Fault.THROTTLE:
                    return web.Response(status=429, headers={"Retry-After": "1"}, text=self._token)
                case Fault.DENY:
                    return web.Response(status=403, text=self._token)
                case Fault.TIME_OUT:
                    return web.Response(status=504, text=self._token)

        return self._gate.failing(answer)

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        def answer(request: web.Request) -> web.StreamResponse | None:
            return web.Response(status=403) if request.path.endswith(f"/{key}") else None

        with self._gate.failing(answer):
            yield

    async def rotate(self) -> None:
        account = self._api.account(self._namespace, MAY)
        self._token = self._api.token(self._namespace, account)
        self._api.request("DELETE", f"/api/v1/namespaces/{self._namespace}/serviceaccounts/{self._account}")
        self._account = account

    def _path(self) -> str:
        return f"/api/v1/namespaces/{self._namespace}/secrets"


def _text(member: object) -> str:
    if member is None:
        return ""
    return member if isinstance(member, str) else json.dumps(member, separators=(",", ":"))


class TestKubernetes(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        api = await asyncio.to_thread(kube_api)
        async with gate(api.url, api.trust) as way:
            yield KubernetesHarness(api, way)
