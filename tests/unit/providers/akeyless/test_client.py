"""Types of items, logins and what is pushed, on a server written from Akeyless' published reference."""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest

from syncret.config.fields import Json
from syncret.providers.akeyless import PROVIDER
from syncret.providers.akeyless.client import AkeylessClient
from syncret.providers.akeyless.connection import open_store
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Malformed
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import RemoteKey, SecretBytes
from tests.support.opened import NOW, Clock, Given, context
from tests.support.servers.akeyless.server import Akeyless
from tests.support.servers.rest import running
from tests.support.specs import spec_of


@pytest.fixture
async def server() -> AsyncIterator[Akeyless]:
    async with running(Akeyless()) as server:
        yield server


def opened(
    server: Akeyless, *, kind: str = "api_key", clock: Clock | None = None, **auth: Json
) -> AbstractAsyncContextManager[AkeylessClient]:
    login = {"id": b"p-1\n", "type": kind.encode(), "key": server.key.encode()}
    given = Given(secrets={"login": login}, tokens={"app": IssuedToken(SecretBytes(b"jwt"), NOW + 600)})
    selected = {
        field: {"name": "login", "key": key}
        for field, key in (("accessID", "id"), ("accessType", "type"), ("accessTypeParam", "key"))
    }
    spec = {"akeylessGWApiURL": server.url, "authSecretRef": auth or {"secretRef": selected}}
    return open_store(spec_of(PROVIDER, spec), context(given, now=clock or Clock()))


@pytest.mark.parametrize(
    ("kind", "answer", "value"),
    [
        pytest.param("DYNAMIC_SECRET", {"user": "u", "id": "<1>"}, b'{"id":"\\u003c1\\u003e","user":"u"}'),
        pytest.param("ROTATED_SECRET", {"value": {"payload": "p"}}, b"p", id="rotated, with a payload"),
        pytest.param("ROTATED_SECRET", {"value": {"target_value": {"b": 1}}}, b'{"b":1}', id="of a target"),
        pytest.param("ROTATED_SECRET", {"value": {"password": "p"}}, b'{"password":"p"}', id="rotated"),
        pytest.param("CERTIFICATE", {"certificate_pem": "PEM"}, b'{"certificate_pem":"PEM"}'),
    ],
)
async def test_types(server: Akeyless, kind: str, answer: Json, value: bytes) -> None:
    server.add("/a", answer, kind=kind)
    async with opened(server) as client:
        assert await client.fetch([RemoteKey("/a")]) == {RemoteKey("/a"): SecretBytes(value)}


async def test_one_of_another_type_spoils_no_batch(server: Akeyless) -> None:
    server.add("/s", "1")
    server.add("/d", {"user": "u"}, kind="DYNAMIC_SECRET")
    async with opened(server) as client:
        found = await client.fetch([RemoteKey("/s"), RemoteKey("/d"), RemoteKey("/gone")])

    assert {key.key for key in found} == {"/s", "/d"}


async def test_a_service_account(server: Akeyless) -> None:
    server.jwts.add(b64encode(b"jwt").decode())
    login = {"accessID": "p-2", "k8sConfName": "cluster-1", "serviceAccountRef": {"name": "app"}}
    async with opened(server, kubernetesAuth=login):
        pass

    [sent] = server.logins
    assert (sent["access-type"], sent["k8s-auth-config-name"]) == ("k8s", "cluster-1")


async def test_an_access_type_of_a_cloud(server: Akeyless) -> None:
    with pytest.raises(Malformed, match="'aws_iam' is not supported"):
        async with opened(server, kind="aws_iam"):
            pass


async def test_a_token_is_renewed(server: Akeyless) -> None:
    clock = Clock()
    server.add("/a", "1")
    async with opened(server, clock=clock) as client:
        await client.fetch([RemoteKey("/a")])
        clock.time += 1800
        await client.fetch([RemoteKey("/a")])

    assert len(server.logins) == 2


async def test_without_a_property_all_keys_are_pushed(server: Akeyless) -> None:
    server.add("/p", '{"old":"0","a":"1"}')
    data = {"a": b64encode(b"2").decode(), "b": b64encode(b"3").decode()}
    async with opened(server) as client:
        await client.push(PushItem("/p", "", SecretBytes(b"2"), secret_key="a", source={"data": data}))

    assert server.items["/p"]["versions"][-1] == '{"a":"2","b":"3","old":"0"}'


async def test_a_property_is_a_name(server: Akeyless) -> None:
    async with opened(server) as client:
        await client.push(PushItem("/p", "a.b", SecretBytes(b"1"), secret_key="k"))
        there = await client.exists(RemoteTarget("/p", "a.b"))

    assert there
    assert server.items["/p"]["versions"] == ['{"a.b":"1"}']


async def test_what_others_made_is_not_deleted(server: Akeyless) -> None:
    server.add("/p", "1")
    async with opened(server) as client:
        await client.delete(RemoteTarget("/p"))

    assert "/p" in server.items
