"""Types of items, logins and what is pushed, on a server written from Akeyless' published reference."""

import json
from base64 import b64encode
from contextlib import AbstractAsyncContextManager

import pytest

from syncret.config.fields import Json
from syncret.providers.akeyless import PROVIDER
from syncret.providers.akeyless.client import AkeylessClient
from syncret.providers.akeyless.connection import open_store
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.support.faults import Fault
from tests.support.opened import NOW, Clock, Given, context
from tests.support.servers.akeyless.server import Akeyless
from tests.support.specs import spec_of


def opened(
    server: Akeyless,
    *,
    kind: str = "api_key",
    clock: Clock | None = None,
    ignore_cache: bool = False,
    **auth: Json,
) -> AbstractAsyncContextManager[AkeylessClient]:
    login = {"id": b"p-1\n", "type": kind.encode(), "key": server.key.encode()}
    given = Given(secrets={"login": login}, tokens={"app": IssuedToken(SecretBytes(b"jwt"), NOW + 600)})
    selected = {
        field: {"name": "login", "key": key}
        for field, key in (("accessID", "id"), ("accessType", "type"), ("accessTypeParam", "key"))
    }
    spec = {
        "akeylessGWApiURL": server.url,
        "authSecretRef": auth or {"secretRef": selected},
        "ignoreCache": ignore_cache,
    }
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


async def test_an_access_type_that_is_unknown(server: Akeyless) -> None:
    """The Secret key may be the wrong one, so its value is not quoted."""
    with pytest.raises(Malformed, match="holds no access type that is supported") as caught:
        async with opened(server, kind="canary"):
            pass

    assert "authSecretRef.secretRef.accessType" in caught.value.message
    assert "canary" not in f"{caught.value!r} {caught.value.hint}"


async def test_a_key_that_is_not_named(server: Akeyless) -> None:
    selected = {"accessID": {"name": "login", "key": "id"}, "accessType": {"name": "login", "key": "type"}}
    with pytest.raises(Malformed, match=r"authSecretRef\.secretRef\.accessTypeParam is missing"):
        async with opened(server, secretRef=selected):
            pass


async def test_a_token_is_renewed(server: Akeyless) -> None:
    clock = Clock()
    server.add("/a", "1")
    async with opened(server, clock=clock) as client:
        await client.fetch([RemoteKey("/a")])
        clock.time += 1800
        await client.fetch([RemoteKey("/a")])

    assert len(server.logins) == 2


async def test_a_missing_permission_is_no_reason_to_log_in_again(server: Akeyless) -> None:
    server.add("/a", "1")
    server.refused.add("/a")
    async with opened(server) as client:
        found = (await client.fetch([RemoteKey("/a")]))[RemoteKey("/a")]

    assert type(found) is Denied
    assert (found.message, found.hint) == (
        "describing item /a: permission denied",
        "let the auth method's role read and list the item's path",
    )
    assert len(server.logins) == 1


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("the token is not valid", id="in words"),
        pytest.param("Error: UnauthorizedAccess. Message: the token has expired", id="with a code"),
    ],
)
async def test_a_token_that_is_refused_is_renewed(server: Akeyless, said: str) -> None:
    server.add("/a", "1")
    refusals = iter([server.refusal(401, said).response()])
    async with opened(server) as client:
        with server.failing(lambda _request: next(refusals, None)):
            found = await client.fetch([RemoteKey("/a")])

    assert found == {RemoteKey("/a"): SecretBytes(b"1")}
    assert len(server.logins) == 2


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        pytest.param("STATIC_SECRET", "/get-secret-value", id="static"),
        pytest.param("ROTATED_SECRET", "/get-rotated-secret-value", id="rotated"),
        pytest.param("CERTIFICATE", "/get-certificate-value", id="certificate"),
    ],
)
async def test_the_cache_of_a_gateway(server: Akeyless, kind: str, path: str) -> None:
    server.add("/a", "1" if kind == "STATIC_SECRET" else {"value": {"payload": "1"}}, kind=kind)
    async with opened(server) as client:
        await client.fetch([RemoteKey("/a")])
    assert not server.bypassing

    async with opened(server, ignore_cache=True) as client:
        await client.fetch([RemoteKey("/a")])
    assert server.bypassing[-1] == path


@pytest.mark.parametrize(
    ("property_", "value"),
    [
        pytest.param("a.b", b"literal", id="a member before a path"),
        pytest.param(".c", b"first", id="a dot in front"),
        pytest.param("a.d", b"nested", id="a path"),
    ],
)
async def test_a_property_that_is_read(server: Akeyless, property_: str, value: bytes) -> None:
    text = SecretBytes(b'{"a.b":"literal",".c":"first","a":{"b":"nested","d":"nested"}}')
    async with opened(server) as client:
        assert client.value(text, RemoteRef("/p", property=property_), Work()) == SecretBytes(value)


async def test_without_a_property_all_keys_are_pushed(server: Akeyless) -> None:
    server.add("/p", '{"old":"0","a":"1"}')
    data = {"a": b64encode(b"2").decode(), "b": b64encode(b"3").decode()}
    async with opened(server) as client:
        await client.push(PushItem("/p", "", SecretBytes(b"2"), secret_key="a", source={"data": data}))

    assert server.items["/p"]["versions"][-1] == '{"a":"2","b":"3","old":"0"}'


@pytest.mark.parametrize("name", ["a.b", "3", "-1", ":0", "ada@example.com", "a|b#c*d?", "a\\.b\\"])
async def test_a_property_that_is_pushed_is_a_name(server: Akeyless, name: str) -> None:
    async with opened(server) as client:
        await client.push(PushItem("/p", name, SecretBytes(b"1"), secret_key="k"))
        there = await client.exists(RemoteTarget("/p", name))
        pushed = server.items["/p"]["versions"]
        await client.delete(RemoteTarget("/p", name))

    assert there
    assert [json.loads(text) for text in pushed] == [{name: "1"}]
    assert "/p" not in server.items


async def test_what_others_made_is_not_deleted(server: Akeyless) -> None:
    server.add("/p", "1")
    async with opened(server) as client:
        await client.delete(RemoteTarget("/p"))

    assert "/p" in server.items


def not_found_at(server: Akeyless, *paths: str) -> Fault:
    """These endpoints do not find something."""
    return lambda request: server.refusal(404, "not found").response() if request.path in paths else None


async def test_a_search_that_is_not_found_is_no_empty_one(server: Akeyless) -> None:
    async with opened(server) as client:
        with (
            server.failing(not_found_at(server, "/list-items")),
            pytest.raises(Malformed, match="listing items: HTTP 404, Akeyless does not find"),
        ):
            await client.find(FindQuery(name=".*"), unpaced, Work())


@pytest.mark.parametrize(
    ("name", "doing"),
    [pytest.param("/new", "creating", id="a new item"), pytest.param("/p", "changing", id="an item")],
)
async def test_a_push_that_is_not_found_is_none(server: Akeyless, name: str, doing: str) -> None:
    server.add("/p", "{}")
    async with opened(server) as client:
        with (
            server.failing(not_found_at(server, "/create-secret", "/update-secret-val")),
            pytest.raises(Malformed, match=f"{doing} item {name}: HTTP 404, Akeyless does not find"),
        ):
            await client.push(PushItem(name, "k", SecretBytes(b"1")))


async def test_a_deletion_of_what_is_gone_meanwhile(server: Akeyless) -> None:
    server.add("/p", "{}", tags=["k8s-external-secrets"])
    async with opened(server) as client:
        with server.failing(not_found_at(server, "/delete-item")):
            await client.delete(RemoteTarget("/p"))


@pytest.mark.parametrize(
    ("kind", "path", "what"),
    [
        pytest.param("STATIC_SECRET", "/get-secret-value", "item /a", id="static"),
        pytest.param("ROTATED_SECRET", "/get-rotated-secret-value", "rotated secret /a", id="rotated"),
    ],
)
async def test_a_value_that_is_not_found(server: Akeyless, kind: str, path: str, what: str) -> None:
    server.add("/a", "1", kind=kind)
    key = RemoteKey("/a", "7")
    async with opened(server) as client:
        with server.failing(not_found_at(server, path)):
            found = (await client.fetch([key]))[key]

    assert type(found) is Malformed
    assert found.message == f"reading {what}: HTTP 404, Akeyless does not find what this needs"
    assert "its version" in found.hint
