"""Sessions share requests as far as what is sent does not differ: by property, or by who asks."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from syncret.config.fields import Json
from syncret.config.meta import ref_of
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.registry import Registry
from syncret.providers.values import RemoteRef, SecretBytes
from tests.support.served import served
from tests.support.servers.webhook import SecretsApi
from tests.unit.daemon.engine.support import START, manifest, settings, stored

KEY = "{{ .remoteRef.key }}"
BODY = b'{"a": "1", "b": "2", "c": "3"}'


@pytest.fixture
def api() -> SecretsApi:
    api = SecretsApi("key")
    api.values["db", ""] = BODY
    return api


@pytest.fixture
async def url(api: SecretsApi) -> AsyncIterator[str]:
    async with served(api.app()) as url:
        yield url


@pytest.fixture
async def sessions() -> AsyncIterator[SessionPool]:
    home = MemoryCluster(now=lambda: START)
    async with SessionPool(Registry(), home, settings(), clock=Clock()) as sessions:
        yield sessions


def store(*, namespace: str = "default", **spec: Json) -> StoredObject:
    webhook = {"headers": {"X-Api-Key": "key"}, "result": {"jsonPath": "$.{{ .remoteRef.property }}"}, **spec}
    kind = "SecretStore" if namespace else "ClusterSecretStore"
    document = manifest(kind, "s", namespace=namespace, spec={"provider": {"webhook": webhook}})
    assert ref_of(document).kind == kind
    return stored(document)


@pytest.mark.parametrize(
    ("query", "requests"),
    [
        pytest.param("", 1, id="the key alone"),
        pytest.param("?p={{ .remoteRef.property }}", 3, id="the property"),
    ],
)
async def test_properties(
    api: SecretsApi, url: str, sessions: SessionPool, query: str, requests: int
) -> None:
    session = sessions.session(store(url=f"{url}/secrets/{KEY}{query}"), "default")
    found = await session.read([RemoteRef("db", name) for name in "abc"])

    assert list(found.values()) == [SecretBytes(b"1"), SecretBytes(b"2"), SecretBytes(b"3")]
    assert api.requests["GET db"] == requests


@pytest.mark.parametrize(
    ("header", "requests"),
    [
        pytest.param("x", 1, id="no caller"),
        pytest.param("{{ .remoteRef.namespace }}", 2, id="a namespace"),
    ],
)
async def test_namespaces(
    api: SecretsApi, url: str, sessions: SessionPool, header: str, requests: int
) -> None:
    shared = store(
        namespace="", url=f"{url}/secrets/{KEY}", headers={"X-Api-Key": "key", "X-Namespace": header}
    )
    askers = [sessions.session(shared, namespace) for namespace in ("one", "two")]
    await asyncio.gather(*(session.read([RemoteRef("db", "a")]) for session in askers))
    without_caller = sessions.session(shared, "")

    assert api.requests["GET db"] == requests
    assert {each["X-Namespace"] for each in api.headers} == ({"x"} if requests == 1 else {"one", "two"})
    assert (await without_caller.probe(), await without_caller.capabilities()) == ("ready", "ReadWrite")
