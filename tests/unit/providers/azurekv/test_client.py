"""Reads and finds in Key Vault, beyond what every provider must do."""

import json
from base64 import b64encode
from collections.abc import Callable

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.serialization import Encoding

from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.http import LARGEST
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.support.jwts import private_key
from tests.support.opened import Clock, Given
from tests.support.servers.azure.errors import VaultError, forbidden
from tests.support.servers.azure.files import certificate, pfx
from tests.support.servers.azure.material import created_key, imported_certificate
from tests.support.servers.azure.server import Azure
from tests.unit.providers.azurekv.stores import extract, opened, raw, read, seed

HTML = "<!DOCTYPE html><title>Sign in</title>canary-1d"
EXPIRES = 1_893_553_445


async def test_secrets_have_versions_and_two_names(cloud: Azure, given: Given, clock: Clock) -> None:
    first = seed(cloud, "db", "one")
    seed(cloud, "db", "two")
    async with opened(cloud, given, clock) as client:
        refs = [RemoteRef("db"), RemoteRef("secret/db"), RemoteRef("db", version=first.id)]
        found = [await read(client, ref) for ref in [*refs, RemoteRef("db", version="0" * 32)]]

    assert found == [b"two", b"two", b"one", None]


async def test_one_call_gives_value_and_tags(cloud: Azure, given: Given, clock: Clock) -> None:
    async with opened(cloud, given, clock) as client:
        refs = [RemoteRef("db", "a"), RemoteRef("secret/db"), RemoteRef("db", metadata=True)]

        assert len({client.remote_key(ref) for ref in refs}) == 1


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("user", b"ada", id="member"),
        pytest.param("a.b", b"path", id="a path goes first"),
        pytest.param("c.d", b"literal", id="then a name with a dot"),
        pytest.param("list.#.x", b"[1,2]", id="search"),
    ],
)
async def test_properties(cloud: Azure, given: Given, clock: Clock, path: str, expected: bytes) -> None:
    document = '{"user":"ada","a.b":"no","a":{"b":"path"},"c.d":"literal","list":[{"x":1},{"x":2}]}'
    seed(cloud, "db", document)
    async with opened(cloud, given, clock) as client:
        assert await read(client, RemoteRef("db", path)) == expected


@pytest.mark.parametrize(
    ("key", "path", "problem"),
    [
        pytest.param("db", "password", "property password does not exist in key db", id="absent"),
        pytest.param("db", "port.deeper", "property port.deeper does not exist", id="into a number"),
        pytest.param("text", "user", "property user does not exist in key text", id="no JSON"),
        pytest.param("blob/db", "", "unknown Azure Keyvault object Type for db", id="kind"),
        pytest.param("a_b", "", "cannot be the name of a secret", id="name"),
        pytest.param("..", "", "cannot be the name of a secret", id="a way out"),
    ],
)
async def test_bad_keys_and_properties(
    cloud: Azure, given: Given, clock: Clock, key: str, path: str, problem: str
) -> None:
    seed(cloud, "db", '{"port":5432}')
    seed(cloud, "text", "canary-1d")
    async with opened(cloud, given, clock) as client:
        with pytest.raises(Malformed, match=problem) as caught:
            await read(client, RemoteRef(key, path))

    assert "canary" not in str(caught.value)


async def test_keys_are_json_in_the_order_of_the_operator(cloud: Azure, given: Given, clock: Clock) -> None:
    public = created_key(private_key("k"))
    made = cloud.vault.add("keys/signing", {"key": public}, {"tags": {"a": "b"}})
    async with opened(cloud, given, clock) as client:
        text = await read(client, RemoteRef("key/signing"))
        modulus = await read(client, RemoteRef("key/signing", "n"))
        tags = await read(client, RemoteRef("key/signing", "a", metadata=True))
        with pytest.raises(Malformed, match="cannot get use dataFrom to get key secret"):
            await extract(client, RemoteRef("key/signing"))

    shown = {"kid": f"{cloud.url}/keys/signing/{made.id}", "kty": "RSA", "key_ops": public["key_ops"]}
    expected = {**shown, "n": public["n"], "e": "AQAB"}
    assert text == json.dumps(expected, separators=(",", ":")).encode()
    assert (modulus, tags) == (public["n"].encode(), b"b")


async def test_certificates_are_der(cloud: Azure, given: Given, clock: Clock) -> None:
    made = certificate("web")
    fields, _, _ = imported_certificate({"value": b64encode(pfx(made, "web")).decode()})
    cloud.vault.add("certificates/web", fields, {"tags": {"a": "b"}})
    async with opened(cloud, given, clock) as client:
        found = [await read(client, RemoteRef("cert/web", path)) for path in ("", "passed.over")]
        tags = await read(client, RemoteRef("cert/web", "a", metadata=True))
        with pytest.raises(Malformed, match="cannot get use dataFrom to get certificate secret"):
            await extract(client, RemoteRef("cert/web"))

    assert found == [made.public_bytes(Encoding.DER)] * 2
    assert tags == b"b"


TAGS = {"owner": "ada", "db": '{"user":"eve","deep":{"er":"x"}}', "json": '{"a":"1","b":null}', "x.y": "dots"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("owner", b"ada", id="tag"),
        pytest.param("x.y", b"dots", id="a name with a dot"),
        pytest.param("db.user", b"eve", id="into JSON"),
        pytest.param("db.deep.er", b"x", id="deeper"),
        pytest.param("attribute.expires", b"2030-01-02T03:04:05Z", id="expiry"),
        pytest.param("attribute.created", b"2009-02-13T23:31:30Z", id="moment"),
    ],
)
async def test_tags(cloud: Azure, given: Given, clock: Clock, name: str, expected: bytes) -> None:
    seed(cloud, "db", "one", TAGS, exp=EXPIRES)
    async with opened(cloud, given, clock) as client:
        assert await read(client, RemoteRef("db", name, metadata=True)) == expected


@pytest.mark.parametrize("name", ["absent", "absent.deeper", ".x", "owner.deeper", "attribute.notBefore"])
async def test_absent_tags(cloud: Azure, given: Given, clock: Clock, name: str) -> None:
    seed(cloud, "db", "one", TAGS)
    async with opened(cloud, given, clock) as client:
        with pytest.raises(Malformed, match="does not exist"):
            await read(client, RemoteRef("db", name, metadata=True))


async def test_all_tags(cloud: Azure, given: Given, clock: Clock) -> None:
    seed(cloud, "db", "one", TAGS, exp=EXPIRES)
    moments = {
        "attribute.created": "2009-02-13T23:31:30Z",
        "attribute.expires": "2030-01-02T03:04:05Z",
        "attribute.updated": "2009-02-13T23:31:30Z",
    }
    async with opened(cloud, given, clock) as client:
        shown = await read(client, RemoteRef("db", metadata=True))
        fields = await extract(client, RemoteRef("secret/db", metadata=True))
        one = await extract(client, RemoteRef("db", "owner", metadata=True))

    assert json.loads(shown or b"") == {**TAGS, **moments}
    assert fields == {
        "db_owner": b"ada",
        "db_db": TAGS["db"].encode(),  # not only strings in it
        "db_json_a": b"1",
        "db_json_b": b"",
        "db_x.y": b"dots",
        **{f"db_{name}": text.encode() for name, text in moments.items()},
    }
    assert one == {"db_owner": b"ada"}


# -- finding
async def test_finds_enabled_secrets_that_fit_both(cloud: Azure, given: Given, clock: Clock) -> None:
    for index in range(40):
        seed(cloud, f"db-{index:02}", f"v{index}", {"team": "ab"[index % 2]}, enabled=index != 2)
    seed(cloud, "web", "w", {"team": "a"})
    async with opened(cloud, given, clock) as client:
        both = await client.find(FindQuery(name="^db-0", tags=(("team", "a"),)), unpaced, Work())
        everything = await client.find(FindQuery(), unpaced, Work())
        passed = await client.find(FindQuery(name="^web$", path="passed/over"), unpaced, Work())

    assert raw(both) == {"db-00": b"v0", "db-04": b"v4", "db-06": b"v6", "db-08": b"v8"}
    assert (len(everything), raw(passed)) == (40, {"web": b"w"})
    assert cloud.vault.calls.count("GET secrets") == 6, "two pages of 25 each"


async def test_a_vault_that_is_gone_is_no_vault_without_secrets(
    cloud: Azure, given: Given, clock: Clock
) -> None:
    gone = VaultError(404, "ResourceNotFound", "The vault is not there.")
    async with opened(cloud, given, clock) as client:
        with cloud.failing(lambda _: gone.response()):
            with pytest.raises(Malformed, match="listing secrets"):
                await client.find(FindQuery(), unpaced, Work())
            with pytest.raises(Malformed, match="not from Key Vault"):
                await read(client, RemoteRef("db"))


async def test_a_next_page_may_name_the_host_otherwise(cloud: Azure, given: Given, clock: Clock) -> None:
    seed(cloud, "db", "one")
    url = cloud.url.replace("127.0.0.1", "localhost")

    def first(request: web.Request) -> web.StreamResponse | None:
        if request.path != "/secrets" or "next" in request.query:
            return None
        rest = f"{url.replace('localhost', 'LOCALHOST')}/secrets?api-version=7.4&next=1"
        return web.json_response({"value": [], "nextLink": rest})

    async with opened(cloud, given, clock, vault_url=url) as client:
        with cloud.failing(first):
            assert raw(await client.find(FindQuery(), unpaced, Work())) == {"db": b"one"}


async def test_a_next_page_elsewhere_gets_no_token(cloud: Azure, given: Given, clock: Clock) -> None:
    def elsewhere(request: web.Request) -> web.StreamResponse | None:
        page: dict[str, object] = {"value": [], "nextLink": "https://elsewhere.example/secrets"}
        return web.json_response(page) if request.path == "/secrets" else None

    async with opened(cloud, given, clock) as client:
        with cloud.failing(elsewhere), pytest.raises(Malformed, match="on another server"):
            await client.find(FindQuery(name="x"), unpaced, Work())


# -- bad answers
def html() -> web.Response:
    return web.Response(text=HTML, content_type="text/html")


def html404() -> web.Response:
    return web.Response(status=404, text=HTML, content_type="text/html")


def html403() -> web.Response:
    return web.Response(status=403, text=HTML, content_type="text/html")


def firewall() -> web.Response:
    return forbidden("Client address canary-1d is not authorized", "ForbiddenByFirewall").response()


def disabled() -> web.Response:
    return forbidden("Operation get is not allowed on a disabled secret.", "SecretDisabled").response()


def busy() -> web.Response:
    return VaultError(409, "Conflict", "canary-1d", "ObjectIsBeingRecovered").response()


def empty() -> web.Response:
    return web.json_response({"id": "x"})


def large() -> web.Response:
    return web.Response(body=b"{" + b" " * LARGEST + b"}")


def cer() -> web.Response:
    return web.json_response({"id": "x", "cer": "canary-1d!"})


@pytest.mark.parametrize(
    ("answer", "expected", "message"),
    [
        pytest.param(html, Malformed, "the answer is HTML", id="HTML"),
        pytest.param(html404, Malformed, "not from Key Vault", id="HTML that is not found is no absence"),
        pytest.param(html403, Denied, "permission denied", id="HTML that is forbidden"),
        pytest.param(firewall, Denied, "permission denied", id="firewall"),
        pytest.param(disabled, Denied, "it is disabled", id="disabled"),
        pytest.param(busy, Unavailable, "another change", id="conflict"),
        pytest.param(empty, Malformed, "holds no value", id="no value"),
        pytest.param(large, Malformed, "larger than", id="too large"),
    ],
)
async def test_bad_answers(
    cloud: Azure,
    given: Given,
    clock: Clock,
    answer: Callable[[], web.Response],
    expected: type[SyncError],
    message: str,
) -> None:
    async with opened(cloud, given, clock) as client:

        def fault(request: web.Request) -> web.StreamResponse | None:
            return answer() if request.path.startswith("/secrets/") else None

        with cloud.failing(fault), pytest.raises(expected, match=message) as caught:
            await read(client, RemoteRef("db"))

    assert "canary" not in str(vars(caught.value)) + repr(caught.value.__context__)


async def test_a_certificate_that_is_not_base64(cloud: Azure, given: Given, clock: Clock) -> None:
    async with opened(cloud, given, clock) as client:
        with (
            cloud.failing(lambda request: cer() if request.path.startswith("/cert") else None),
            pytest.raises(Malformed, match="holds no value") as caught,
        ):
            await read(client, RemoteRef("cert/web"))

    assert "canary" not in repr(caught.value.__context__)


async def test_values_of_five_megabytes_pass(cloud: Azure, given: Given, clock: Clock) -> None:
    value = "x" * 5 * 2**20
    seed(cloud, "db", value)
    async with opened(cloud, given, clock) as client:
        assert await read(client, RemoteRef("db")) == value.encode()
