"""What a webhook store sends, what it takes from the answer, and what it refuses."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.catalog import Scope
from syncret.config.fields import CAProvider, SecretKeySelector
from syncret.providers.errors import Denied, Malformed, OverBudget, SyncError, Unavailable
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes
from syncret.providers.webhook import open_webhook
from syncret.providers.webhook.generator import (
    GeneratorSecretKey,
    WebhookGeneratorSpec,
    generate,
)
from syncret.providers.webhook.spec import (
    WebhookAuth,
    WebhookNTLM,
    WebhookResult,
    WebhookSecret,
    WebhookSpec,
    depends_on_namespace,
    depends_on_property,
)
from syncret.providers.work import Work
from tests.support.opened import Given, context
from tests.support.served import all_to, served
from tests.support.servers.webhook import NtlmApi
from tests.support.tls import Authority

LABEL = {"external-secrets.io/type": "webhook"}
LOGIN = Given(secrets={"login": {"token": b"t/k n"}}, labels={"login": LABEL})
SECRETS = (WebhookSecret(name="auth", secret_ref=SecretKeySelector(name="login")),)


class Server:
    """Remembers what it was asked, and answers what its test says."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, Mapping[str, str], bytes]] = []
        self.status = 200
        self.body = b"{}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request.method, request.raw_path, request.headers, await request.read()))
        return web.Response(status=self.status, body=self.body)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def url(server: Server) -> AsyncIterator[str]:
    async with served(all_to(server.handle)) as url:
        yield url


async def read(spec: WebhookSpec, ref: RemoteRef, given: Given = LOGIN) -> bytes | None:
    async with open_webhook(spec, context(given)) as client:
        key = client.remote_key(ref)
        payload = (await client.fetch([key])).get(key)
        if isinstance(payload, SyncError):
            raise payload
        found = None if payload is None else client.value(payload, ref, Work())
        return None if found is None else found.raw


async def test_only_what_goes_into_the_url_is_escaped(server: Server, url: str) -> None:
    spec = WebhookSpec(
        url=url + "/api?id={{ .remoteRef.key }}&v={{ .remoteRef.version }}&ns={{ .remoteRef.namespace }}",
        method="PUT",
        headers={"X-Token": "{{ .auth.token }}", "X-Key": "{{ .remoteRef.key }}"},
        body='{"folder": "{{ .remoteRef.key }}"}',
        secrets=SECRETS,
    )
    server.body = b"the value"

    assert await read(spec, RemoteRef("/my app/é", "", "1+1")) == b"the value"
    [(method, path, headers, body)] = server.seen
    assert (method, path) == ("PUT", "/api?id=%2Fmy+app%2F%C3%A9&v=1%2B1&ns=default")
    assert (headers["X-Token"], headers["X-Key"].encode("utf-8", "surrogateescape")) == (
        "t/k n",
        "/my app/é".encode(),
    )
    assert body == '{"folder": "/my app/é"}'.encode()


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        pytest.param("", b"\xff\x00raw", b"\xff\x00raw", id="the whole body"),
        pytest.param("$.s", b'{"s": "RE\\/D=="}', b"RE/D==", id="a string"),
        pytest.param("$.n", b'{"n": 1234567890123}', b"1234567890123", id="a number"),
        pytest.param("$.n", b'{"n": 1.5}', b"2", id="a number without its decimals"),
        pytest.param("$.b", b'{"b": true}', b"true", id="a boolean"),
        pytest.param("$.z", b'{"z": null}', b"", id="null"),
        pytest.param("$.o", b'{"o": {"b": 1, "a": "<"}}', b'{"a":"\\u003c","b":1}', id="an object"),
        pytest.param("$..name", b'[{"name": "one"}, {"name": "two"}]', b"one", id="the first of a list"),
        pytest.param(
            "$.{{ .remoteRef.property }}.{{ .auth.token | len }}", b'{"p": [0,1,2,3,4,"x"]}', b"x", id="-"
        ),
    ],
)
async def test_values(server: Server, url: str, path: str, body: bytes, expected: bytes) -> None:
    server.body = body
    path = path.replace(".{{ .auth.token | len }}", "[{{ .auth.token | len }}]")
    spec = WebhookSpec(url=url, result=WebhookResult(json_path=path), secrets=SECRETS)

    assert await read(spec, RemoteRef("k", "p")) == expected


@pytest.mark.parametrize(
    ("path", "status", "body", "expected"),
    [
        pytest.param("$.a", 200, b"canary", "failed to parse response json: invalid syntax", id="no JSON"),
        pytest.param("$.a", 200, b"<html>canary", "failed to parse response json", id="HTML"),
        pytest.param("$.b.c", 200, b'{"b": "canary"}', "failed to get response path", id="no such path"),
        pytest.param(
            "$..b", 200, b'{"a": "canary"}', "filter worked but didn't get any result", id="nothing"
        ),
        pytest.param("$.a[", 200, b'{"a": "canary"}', "cannot be read", id="no path"),
        pytest.param("{{ .canary", 200, b"{}", "result.jsonPath: the template", id="no template"),
        pytest.param("", 304, b"", "not modified", id="not modified"),
        pytest.param("", 400, b"canary", "HTTP 400", id="refused"),
    ],
)
async def test_failures(server: Server, url: str, path: str, status: int, body: bytes, expected: str) -> None:
    server.status, server.body = status, body
    spec = WebhookSpec(
        url=f"{url}?t={{{{ .auth.token }}}}", result=WebhookResult(json_path=path), secrets=SECRETS
    )
    with pytest.raises(Malformed, match=expected) as caught:
        await read(spec, RemoteRef("k"))

    assert "canary" not in f"{caught.value}{caught.value.hint}"
    assert "t/k" not in f"{caught.value}{caught.value.hint}"


async def test_404_is_absence_and_only_404(server: Server, url: str) -> None:
    server.status = 404
    assert await read(WebhookSpec(url=url), RemoteRef("k")) is None
    server.status = 500
    with pytest.raises(Unavailable):
        await read(WebhookSpec(url=url), RemoteRef("k"))


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        pytest.param(
            "", b'{"a":"x","n":1.5,"l":[1],"z":null}', {"a": b"x", "n": b"1.5", "l": b"[1]", "z": b""}, id="-"
        ),
        pytest.param("$.inner", b'{"inner":"{\\"a\\":\\"x\\"}"}', {"a": b"x"}, id="JSON in a string"),
    ],
)
async def test_maps(server: Server, url: str, path: str, body: bytes, expected: dict[str, bytes]) -> None:
    server.body = body
    async with open_webhook(WebhookSpec(url=url, result=WebhookResult(json_path=path)), context()) as client:
        [payload] = (await client.fetch([RemoteKey("k")])).values()
        assert not isinstance(payload, SyncError)
        found = client.fields(payload, RemoteRef("k"), Work())

    assert {key: value.raw for key, value in (found or {}).items()} == expected


@pytest.mark.parametrize("body", [b'"text"', b"[1]", b"1", b"null", b"true", b"canary"])
async def test_what_is_no_map(server: Server, url: str, body: bytes) -> None:
    server.body = body
    async with open_webhook(WebhookSpec(url=url), context()) as client:
        [payload] = (await client.fetch([RemoteKey("k")])).values()
        assert not isinstance(payload, SyncError)
        with pytest.raises(Malformed, match="failed to"):
            client.fields(payload, RemoteRef("k"), Work())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("", b"s\xff/ecret", id="the value itself"),
        pytest.param('{{ "" }}', b"", id="deliberately empty"),
        pytest.param("{{ index .remoteRef .remoteRef.remoteKey }}!", b"s\xff/ecret!", id="a template"),
        pytest.param("{{ .remoteRef.secretKey }}={{ .auth.token }}", b"pw=t/k n", id="others"),
    ],
)
async def test_pushes(server: Server, url: str, body: str, expected: bytes) -> None:
    spec = WebhookSpec(url=f"{url}/{{{{ .remoteRef.remoteKey }}}}", body=body, secrets=SECRETS)
    async with open_webhook(spec, context(LOGIN)) as client:
        await client.push(PushItem("my-key/1", "", SecretBytes(b"s\xff/ecret"), secret_key="pw"))

    [(method, path, headers, sent)] = server.seen
    assert (method, path, sent) == ("POST", "/my-key%2F1", expected)
    assert "Content-Type" not in headers, "only the store's own headers say what it is"


async def test_deletes_and_looks(server: Server, url: str) -> None:
    spec = WebhookSpec(
        url=f"{url}/{{{{ or .remoteRef.key .remoteRef.remoteKey }}}}",
        headers={"X-T": "{{ .auth.token }}"},
        secrets=SECRETS,
    )
    async with open_webhook(spec, context(LOGIN)) as client:
        assert await client.exists(RemoteTarget("a"))
        await client.delete(RemoteTarget("a"))
        server.status = 404
        assert not await client.exists(RemoteTarget("a"))
        await client.delete(RemoteTarget("a"))
        server.status = 403
        for act in (client.exists, client.delete):
            with pytest.raises(SyncError):
                await act(RemoteTarget("a"))

    assert [(method, path, headers["X-T"]) for method, path, headers, _ in server.seen][:2] == [
        ("GET", "/a", "t/k n"),
        ("DELETE", "/a", "t/k n"),
    ]


@pytest.mark.parametrize(
    ("labels", "cluster", "namespace", "expected"),
    [
        pytest.param({}, False, None, "needed label", id="no label"),
        pytest.param({"external-secrets.io/type": "other"}, False, None, "needed label", id="another label"),
        pytest.param(LABEL, True, None, "no namespace", id="a cluster store names no namespace"),
    ],
)
async def test_secrets_must_be_meant_for_it(
    labels: Mapping[str, str], *, cluster: bool, namespace: str | None, expected: str
) -> None:
    given = Given(secrets={"login": {"token": b"x"}}, labels={"login": labels})
    named = WebhookSecret(name="auth", secret_ref=SecretKeySelector(name="login", namespace=namespace))
    scope = Scope(cluster=cluster, namespace="ns")
    with pytest.raises(Malformed, match=expected):
        async with open_webhook(WebhookSpec(url="http://h", secrets=(named,)), context(given, scope=scope)):
            pass


async def test_a_private_authority_is_trusted(server: Server, tmp_path: Path) -> None:
    authority = Authority()
    given = Given(config_maps={"ca": {"ca.crt": authority.pem.decode()}})
    server.body = b"v"
    async with served(all_to(server.handle), authority.server(tmp_path)) as url:
        spec = WebhookSpec(url=url, ca_provider=CAProvider(type="ConfigMap", name="ca", key="ca.crt"))
        assert await read(spec, RemoteRef("k"), given) == b"v"
        with pytest.raises(Malformed, match="not trusted"):
            await read(WebhookSpec(url=url), RemoteRef("k"))


@pytest.mark.parametrize(
    ("template", "key", "asked"),
    [
        pytest.param("/public/{{ .remoteRef.key }}/read", "..", None, id="up"),
        pytest.param("/public/{{ .remoteRef.key }}", ".", None, id="here"),
        pytest.param("/p/{{ .auth.token }}/read", "k", None, id="of a Secret"),
        pytest.param("/p/../{{ .remoteRef.key }}", "a", "/p/../a", id="the template's own"),
        pytest.param("/p/{{ .remoteRef.key }}", "a..b", "/p/a..b", id="dots in a name"),
        pytest.param("/p?k={{ .remoteRef.key }}", "../a", "/p?k=..%2Fa", id="in a query"),
    ],
)
async def test_a_rendered_path_leads_nowhere_else(
    server: Server, url: str, template: str, key: str, asked: str | None
) -> None:
    server.body = b"v"
    given = Given(secrets={"login": {"token": b"../../admin"}}, labels={"login": LABEL})
    spec = WebhookSpec(url=url + template, secrets=SECRETS)
    if asked is None:
        with pytest.raises(Malformed, match=r"has a segment \. or \.\., which the template has not"):
            await read(spec, RemoteRef(key), given)
        assert server.seen == []
    else:
        assert await read(spec, RemoteRef(key), given) == b"v"
        assert [path for _, path, _, _ in server.seen] == [asked]


async def test_all_templates_of_a_request_pay_from_one_budget(server: Server, url: str) -> None:
    large = '{{ repeat 1000000 "a" | len }}'
    few, many = ({f"X-{number}": large for number in range(count)} for count in (1, 90))
    assert await read(WebhookSpec(url=url, headers=few), RemoteRef("k")) is not None
    asked = len(server.seen)
    with pytest.raises(OverBudget, match=r"headers\.X-.*workMemory"):
        await read(WebhookSpec(url=url, headers=many), RemoteRef("k"))
    assert len(server.seen) == asked


async def test_ntlm(server: Server) -> None:
    given = Given(secrets={"user": {"u": b"CORP\\ada", "p": b"pw"}}, labels={"user": LABEL})
    ntlm = WebhookNTLM(
        username_secret=SecretKeySelector(name="user", key="u"),
        password_secret=SecretKeySelector(name="user", key="p"),
    )
    async with served(NtlmApi("ada", "CORP", "pw").app()) as url:
        assert await read(WebhookSpec(url=url, auth=WebhookAuth(ntlm=ntlm)), RemoteRef("k"), given) == b"ok"


async def test_probing(url: str) -> None:
    for text, expected in (
        (url, "ready"),
        ("http://{{ .auth.token }}", "unknown"),
        ("http://h{{ 1 }}/", "unknown"),
    ):
        async with open_webhook(WebhookSpec(url=text), context()) as client:
            assert await client.probe() == expected
    async with open_webhook(WebhookSpec(url="http://127.0.0.1:1"), context()) as client:
        with pytest.raises(Unavailable, match="error accessing external store"):
            await client.probe()
    async with open_webhook(WebhookSpec(url="http://169.254.169.254/"), context()) as client:
        with pytest.raises(Denied, match="may not be reached"):
            await client.probe()


@pytest.mark.parametrize(
    ("template", "by_property", "by_namespace"),
    [
        pytest.param("http://h/{{ .remoteRef.key }}?property=1&x=$", False, False, id="the key"),
        pytest.param("http://h/{{ .remoteRef.property }}", True, False, id="the property"),
        pytest.param('http://h/{{ index .remoteRef "pro" }}', True, True, id="something computed"),
        pytest.param("http://h/{{ .remoteRef.namespace }}", False, True, id="the namespace"),
        pytest.param("http://h/{{ toJson .remoteRef }}", True, True, id="the whole reference"),
        pytest.param("http://h/{{ . | toJson }}", True, True, id="everything"),
        pytest.param("http://h/{{ range $k, $v := .remoteRef }}{{ $v }}{{ end }}", True, True, id="a loop"),
    ],
)
def test_what_requests_depend_on(template: str, *, by_property: bool, by_namespace: bool) -> None:
    spec = WebhookSpec(url="http://h/", headers={"X": template})

    assert (depends_on_property(spec), depends_on_namespace(spec)) == (by_property, by_namespace)


async def test_the_generator(server: Server, url: str) -> None:
    server.body = b'{"data": {"user": "ada", "n": 7}}'
    spec = WebhookGeneratorSpec(
        url=f"{url}/new",
        method="POST",
        body="{{ .auth.token }}",
        result=WebhookResult(json_path="$.data"),
        secrets=(WebhookSecret(name="auth", secret_ref=GeneratorSecretKey(name="login")),),
    )
    drawn = await generate(spec, context(LOGIN))

    assert {key: value.raw for key, value in drawn.values.items()} == {"user": b"ada", "n": b"7"}
    assert server.seen[0][3] == b"t/k n"
    server.status = 404
    with pytest.raises(Malformed):
        await generate(spec, context(LOGIN))


async def test_a_server_that_is_silent_for_longer_than_the_timeout() -> None:
    async def wait(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()  # until the caller has gone
        return web.Response()

    async with served(all_to(wait)) as url:
        with pytest.raises(Unavailable, match="no answer in time"):
            await read(WebhookSpec(url=url, timeout="50ms"), RemoteRef("db"))


@pytest.mark.parametrize(
    ("host", "named"),
    [
        pytest.param(
            "127.0.0.1:1/{{ .remoteRef.key }}", "127.0.0.1:1 refuses connections", id="a fixed server"
        ),
        pytest.param("{{ .auth.user }}.localhost:1/", "the server", id="a Secret is a part of its name"),
    ],
)
async def test_a_server_is_named_unless_its_name_is_made_of_values(host: str, named: str) -> None:
    """Everybody who uses the store can read what is wrong with its server."""
    given = Given(secrets={"login": {"user": b"canary"}}, labels={"login": LABEL})
    with pytest.raises(Unavailable) as caught:
        await read(WebhookSpec(url=f"http://{host}", secrets=SECRETS), RemoteRef("k"), given)
    assert caught.value.problem.startswith(named)
    assert "canary" not in f"{caught.value}{caught.value.problem}"
