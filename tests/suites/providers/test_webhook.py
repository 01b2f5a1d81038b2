"""An API behind templates passes the suite."""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager

import pytest

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import Client
from syncret.providers.testing import Ability, Entry, Fault, Harness, HoldsText, ProviderSuite
from syncret.providers.webhook import PROVIDER
from syncret.providers.webhook.spec import WebhookResult, WebhookSecret, WebhookSpec
from tests.support.opened import Given, context
from tests.support.served import served
from tests.support.servers.webhook import SecretsApi

NO_FIND = "ESO's webhook provider does not find: a template describes one request for one key"
BLIND = "templates say how to write, not how what stands there could be read and compared"


class WebhookHarness(HoldsText):
    lacks: Mapping[Ability, str] = {
        Ability.FIND_NAME: NO_FIND,
        Ability.FIND_PATH: NO_FIND,
        Ability.FIND_TAGS: NO_FIND,
        Ability.PUSH_PROPERTY: "a push to a webhook has no property: its templates do not see one",
        Ability.DELETE_PROPERTY: "as pushing properties",
        Ability.COMPARE: BLIND,
        Ability.OWN: "a webhook has nowhere to mark what it holds",
    }
    versions: tuple[str, str] = ("1", "2")

    def __init__(self, url: str, api: SecretsApi) -> None:
        self._url = url
        self._api = api
        self.canaries: tuple[str, ...] = (api.api_key,)

    async def seed(self, *entries: Entry) -> None:
        self._api.values |= {(entry.key, entry.version): entry.value for entry in entries}

    async def stored(self, key: str) -> bytes | None:
        return self._api.values.get((key, ""))

    async def writes(self) -> int:
        return self._api.writes

    def open(self) -> AbstractAsyncContextManager[Client]:
        return self._open()

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Client, None]:
        given = Given(
            secrets={"api": {"key": self._api.api_key.encode()}},
            labels={"api": {"external-secrets.io/type": "webhook"}},
        )
        key = "{{ or .remoteRef.key .remoteRef.remoteKey }}"
        version = "{{ with .remoteRef.version }}?version={{ . }}{{ end }}"
        spec = WebhookSpec(
            url=f"{self._url}/secrets/{key}{version}",
            headers={"X-Api-Key": "{{ .api.key }}"},
            secrets=(WebhookSecret(name="api", secret_ref=SecretKeySelector(name="api")),),
            result=WebhookResult(json_path='{{ with .remoteRef.property }}$["{{ . }}"]{{ end }}'),
        )
        assert PROVIDER.open is not None
        async with PROVIDER.open(spec, context(given)) as client:
            yield client

    @contextmanager
    def broken(self, fault: Fault) -> Generator[None, None, None]:
        faults: Mapping[Fault, int | None] = {Fault.THROTTLE: 429, Fault.DENY: 403, Fault.TIME_OUT: None}
        self._api.fault = faults[fault]
        yield
        self._api.fault = 0

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        self._api.refused.add(key)
        yield
        self._api.refused.clear()

    async def rotate(self) -> None:
        self._api.api_key += "-rotated"


class TestWebhook(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        api = SecretsApi("canary-api-key-5c1d")
        async with served(api.app()) as url:
            yield WebhookHarness(url, api)
