"""The operator and we, each on its own API server, sync from the same managers: the Secrets are equal."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object, member
from syncret.providers.testing import Ability, Entry
from tests.real.e2e.process import daemon, until
from tests.suites.providers.managers import managed
from tests.suites.providers.rest_harness import RestHarness
from tests.support.servers.eso.running import operator
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import KubeApi

pytestmark = [pytest.mark.slow, pytest.mark.differential]

MANAGERS: Final = (
    *("akeyless", "chef", "conjur", "fortanix", "gitlab", "onepassword", "previder", "scaleway"),
    "secretserver",
)
"""Whose addresses a store names."""

ESO: Final = "/apis/external-secrets.io/v1/namespaces/default"
SETTLED: Final = 60.0


@pytest.fixture
async def stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Mapping[str, RestHarness[Any]]]:
    async with AsyncExitStack() as stack:
        opened = {
            name: await stack.enter_async_context(managed(name, tmp_path, monkeypatch)) for name in MANAGERS
        }
        for store in opened.values():
            await store.seed(Entry(store.key("a-key"), store.whole("one")))
            await store.seed(Entry(store.key("db"), b'{"user":"ada","password":"p w"}'))
        yield opened


def _documents(name: str, store: RestHarness[Any]) -> tuple[Document, Document, Document]:
    """A Secret with the logins, the store, and what reads from it."""
    logins = {
        f"{name}-{secret}": {key: b64encode(value).decode() for key, value in data.items()}
        for secret, data in store.given.secrets.items()
    }
    [(login, data)] = logins.items()
    spec = _renamed(store.spec(), login)
    entries: Document = {"data": [{"secretKey": "whole", "remoteRef": {"key": store.key("a-key")}}]}
    if Ability.MAP not in store.lacks:
        entries["dataFrom"] = [{"extract": {"key": store.key("db")}}]
    reads = {"refreshInterval": "1h", "secretStoreRef": {"name": name, "kind": "SecretStore"}, **entries}
    return (
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": login}, "data": data},
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": "SecretStore",
            "metadata": {"name": name},
            "spec": {"provider": {store.provider: spec}},
        },
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "metadata": {"name": name},
            "spec": reads,
        },
    )


def _renamed(spec: Json, login: str) -> Json:
    """The spec with its selectors of the Secret `login` leading to one of another name."""
    if is_object(spec):
        return {
            key: login if (key, value) == ("name", "login") else _renamed(value, login)
            for key, value in spec.items()
        }
    return spec


def _secrets(api: KubeApi) -> dict[str, Document | None]:
    found = {name: api.get(f"/api/v1/namespaces/default/secrets/{name}") for name in MANAGERS}
    return {name: None if each is None else each.get("data") for name, each in found.items()}


def _filled(api: KubeApi, stores: Mapping[str, RestHarness[Any]]) -> None:
    install(api)
    for name, store in stores.items():
        secret, named, external = _documents(name, store)
        api.create("/api/v1/namespaces/default/secrets", secret)
        api.create(f"{ESO}/secretstores", named)
        api.create(f"{ESO}/externalsecrets", external)


def _synced(api: KubeApi) -> Mapping[str, Document | None]:
    try:
        until(lambda: None not in _secrets(api).values(), "all synced", SETTLED, every=0.3)
    except TimeoutError as error:
        late = [name for name, data in _secrets(api).items() if data is None]
        raise TimeoutError(f"{error}: {[_reason(api, name) for name in late]}") from None
    return _secrets(api)


def _reason(api: KubeApi, name: str) -> str:
    found = [api.get(f"{ESO}/{kind}/{name}") or {} for kind in ("externalsecrets", "secretstores")]
    told = [each.get("message", "") for one in found for each in member(one, "status").get("conditions", ())]
    return f"{name}: {told}"


async def test_the_secrets_are_equal(stores: Mapping[str, RestHarness[Any]], tmp_path: Path) -> None:
    def script() -> tuple[Mapping[str, Document | None], Mapping[str, Document | None]]:
        theirs, ours = KubeApi(), KubeApi()
        try:
            for api in (theirs, ours):
                _filled(api, stores)
            with operator(theirs, tmp_path):
                their_secrets = _synced(theirs)
            config = ours.kubeconfig(tmp_path / "ours.kubeconfig")
            with daemon(tmp_path, None, "--kubernetes", "--set", f"kubeconfig={config}") as process:
                our_secrets = _synced(ours)
                assert process.stop() == 0
            return their_secrets, our_secrets
        finally:
            theirs.stop()
            ours.stop()

    their_secrets, our_secrets = await asyncio.to_thread(script)

    assert our_secrets == their_secrets
    assert all(our_secrets.values())
