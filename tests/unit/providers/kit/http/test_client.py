"""Http against a real server: what it sends, what it takes, and what it says when it gets no answer."""

import asyncio
import gc
import gzip
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import StreamReader, web

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.http import (
    Body,
    Http,
    Timeouts,
    Tls,
    Unauthenticated,
    form_body,
    json_body,
    segments,
)
from tests.support.opened import NETWORK, NOW
from tests.support.served import all_to, served
from tests.support.tls import Authority

CANARY = "canary-77aa"


def printed(error: BaseException | None) -> str:
    """Everything that can be printed of an error."""
    text = ""
    while error is not None:
        text += f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__
    return text


class Echo:
    """A server that does what its test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.answer: Callable[[web.Request], web.StreamResponse] = lambda _: web.Response(text="ok")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        self.bodies.append(await request.read())
        return self.answer(request)


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
async def url(echo: Echo) -> AsyncIterator[str]:
    async with served(all_to(echo.handle)) as url:
        yield url


async def test_it_sends_the_given_request(echo: Echo, url: str) -> None:
    async with Http(url, headers={"X-Store": "s"}, network=NETWORK) as http:
        answer = await http.request(
            "POST",
            f"/v1/{segments('a/b', 'ü c')}?x=1",
            doing="writing",
            params={"q": "a&b"},
            headers={"X-Key": "k"},
            body=json_body({"a": 1}),
        )
        await http.request("PUT", "form", doing="writing", body=form_body({"grant": "a b"}))
    first, second = echo.seen

    assert (answer.status, answer.body) == (200, b"ok")
    assert first.raw_path == "/v1/a%2Fb/%C3%BC%20c?x=1&q=a%26b"
    assert (first.method, first.headers["X-Store"], first.headers["X-Key"]) == ("POST", "s", "k")
    assert first.headers["User-Agent"].startswith("syncret")
    assert first.headers["Content-Type"] == "application/json"
    assert (second.method, second.path, echo.bodies) == ("PUT", "/form", [b'{"a":1}', b"grant=a+b"])


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        pytest.param(400, {}, Malformed, id="bad request"),
        pytest.param(401, {}, Unauthenticated, id="unauthorized"),
        pytest.param(403, {}, Denied, id="forbidden"),
        pytest.param(404, {}, Malformed, id="not found"),
        pytest.param(408, {}, Unavailable, id="request timeout"),
        pytest.param(429, {}, Throttled, id="too many requests"),
        pytest.param(500, {}, Unavailable, id="server error"),
        pytest.param(503, {}, Unavailable, id="unavailable"),
        pytest.param(503, {"Retry-After": "7"}, Throttled, id="unavailable until"),
        pytest.param(599, {}, Unavailable, id="unknown"),
    ],
)
async def test_a_status_is_an_error(
    echo: Echo, url: str, status: int, headers: dict[str, str], expected: type[SyncError]
) -> None:
    echo.answer = lambda _: web.Response(status=status, headers=headers, text=CANARY, reason=CANARY)
    async with Http(url, network=NETWORK) as http:
        with pytest.raises(expected) as caught:
            await http.request("GET", f"/{CANARY}?token={CANARY}", doing="reading key a")
        allowed = await http.request("GET", "/", doing="reading key a", accept=(status,))

    assert str(caught.value).startswith(f"reading key a: HTTP {status}")
    assert CANARY not in printed(caught.value)
    assert type(caught.value) is expected
    assert allowed.status == status


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("Fri, 13 Feb 2009 23:31:35 GMT", 5.0, id="a date"),
        pytest.param("Fri, 13 Feb 2009 23:00:00 GMT", 0.0, id="a date that is over"),
        pytest.param("soon", None, id="nonsense"),
        pytest.param("-3", None, id="negative"),
        pytest.param("99999999999", 86400.0, id="three thousand years"),
        pytest.param("9" * 400, 86400.0, id="more than a float holds"),
        pytest.param("Fri, 31 Dec 9999 23:59:59 GMT", 86400.0, id="a date in another age"),
        pytest.param("Fri, 13 Feb 2009 23:31:35 +99999999999999", None, id="a time zone that is none"),
    ],
)
async def test_retry_after_is_understood(echo: Echo, url: str, text: str, expected: float | None) -> None:
    echo.answer = lambda _: web.Response(status=429, headers={"Retry-After": text})
    async with Http(url, now=lambda: NOW, network=NETWORK) as http:
        with pytest.raises(Throttled) as caught:
            await http.request("GET", "/", doing="reading")

    assert caught.value.retry_after == expected


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        pytest.param(b"<!DOCTYPE html><p>canary-77aa", "text/html", "HTML, not JSON", id="html"),
        pytest.param(b"canary-77aa", "text/html", "HTML, not JSON", id="html by type"),
        pytest.param(b"canary-77aa", "application/json", "is not JSON", id="text"),
        pytest.param(b"\xff\xfe", "application/json", "is not JSON", id="binary"),
        pytest.param(b'{"a": "canary-77aa\xff"}', "application/json", "is not JSON", id="bad utf-8"),
        pytest.param(b"", "application/json", "is empty", id="empty"),
    ],
)
async def test_invalid_json_is_reported(echo: Echo, url: str, body: bytes, kind: str, expected: str) -> None:
    echo.answer = lambda _: web.Response(body=body, content_type=kind)
    async with Http(url, network=NETWORK) as http:
        answer = await http.request("GET", "/", doing="reading")
    with pytest.raises(Malformed, match=expected) as caught:
        answer.json()

    assert CANARY not in printed(caught.value)


async def test_json_is_read_by_a_model(echo: Echo, url: str) -> None:
    echo.answer = lambda _: web.json_response({"token": CANARY})
    async with Http(url, network=NETWORK) as http:
        answer = await http.request("GET", "/", doing="logging in")

    assert answer.json() == answer.decode(dict[str, str]) == {"token": CANARY}
    with pytest.raises(Malformed, match="another shape") as caught:
        answer.decode(dict[str, int])
    assert CANARY not in printed(caught.value) + repr(answer)


@pytest.mark.parametrize("packed", [pytest.param(False, id="plain"), pytest.param(True, id="packed")])
async def test_an_answer_that_is_too_large_is_an_error(echo: Echo, url: str, *, packed: bool) -> None:
    body = CANARY.encode() * 100_000

    def answer(_: web.Request) -> web.Response:
        if packed:
            return web.Response(body=gzip.compress(body), headers={"Content-Encoding": "gzip"})
        return web.Response(body=body)

    echo.answer = answer
    async with Http(url, largest=len(body) - 1, network=NETWORK) as http:
        with pytest.raises(Malformed, match="larger than"):
            await http.request("GET", "/", doing="reading")
    async with Http(url, largest=len(body), network=NETWORK) as http:
        assert (await http.request("GET", "/", doing="reading")).body == body


@pytest.mark.parametrize(
    ("status", "expected"),
    [pytest.param(200, "larger than", id="wanted"), pytest.param(500, "HTTP 500", id="not")],
)
async def test_a_body_without_an_end(status: int, expected: str) -> None:
    """It is not read to its end; of a response that is an error anyway, the status counts."""
    ended = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=status)
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
        finally:
            ended.set()

    async with served(all_to(handle)) as url, Http(url, network=NETWORK) as http:
        with pytest.raises(SyncError, match=expected):
            await http.request("GET", "/", doing="reading")
        await ended.wait()


async def test_a_declared_length_is_enough_to_refuse(echo: Echo, url: str) -> None:
    """Nothing of such a body is read: the server below sends none at all."""

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "209715200"})
        await response.prepare(request)
        await asyncio.Event().wait()
        return response

    async with served(all_to(handle)) as endless, Http(endless, network=NETWORK) as http:
        with pytest.raises(Malformed, match="reading: the answer is larger than 8388608 bytes"):
            await http.request("GET", "/", doing="reading")
    echo.answer = lambda _: web.Response(headers={"Content-Length": "209715200"})
    async with Http(url, network=NETWORK) as http:
        assert (await http.request("HEAD", "/", doing="looking")).body == b"", (
            "only the header names a length"
        )


async def test_nothing_is_kept_of_an_answer_that_is_given_up() -> None:
    """The frames of its error, or a cycle in them, may keep the response for long."""

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 65536)

    gc.collect()
    gc.disable()
    async with served(all_to(handle)) as endless, Http(endless, largest=65536, network=NETWORK) as http:
        for _ in range(3):
            with pytest.raises(Malformed, match="larger than"):
                await http.request("GET", "/", doing="reading")
        kept = [each for each in gc.get_objects() if type(each) is StreamReader]
    gc.enable()
    assert [each for each in kept if each._size] == []  # pyright: ignore[reportPrivateUsage]


async def test_redirects_on_one_server_are_followed(echo: Echo, url: str) -> None:
    def answer(request: web.Request) -> web.Response:
        if request.path == "/old":
            return web.Response(status=307, headers={"Location": "/new"})
        return web.Response(text="here")

    echo.answer = answer
    async with Http(url, network=NETWORK) as http:
        got = await http.request("GET", "/old", doing="reading", headers={"X-Token": "t"})
        put = await http.request("PUT", "/old", doing="writing", body=json_body(1))

    assert (got.body, put.body) == (b"here", b"here")
    assert [request.headers.get("X-Token") for request in echo.seen] == ["t", "t", None, None]
    assert echo.bodies == [b"", b"", b"1", b"1"]


async def test_redirects_to_another_server_need_trust(echo: Echo, url: str) -> None:
    async with AsyncExitStack() as stack:

        async def move(_: web.Request) -> web.StreamResponse:
            return web.Response(status=302, headers={"Location": f"{url}/there?token={CANARY}"})

        other = await stack.enter_async_context(served(all_to(move)))
        http = await stack.enter_async_context(Http(other, network=NETWORK))
        with pytest.raises(Malformed, match="would receive the credentials") as caught:
            await http.request("GET", "/", doing="reading")
        trusting = await stack.enter_async_context(Http(other, trusts_redirects=True, network=NETWORK))
        answer = await trusting.request("GET", "/", doing="reading", headers={"X-Token": "t"})

    assert CANARY not in printed(caught.value)
    assert answer.body == b"ok"
    assert [request.headers["X-Token"] for request in echo.seen] == ["t"]


async def test_trust_in_redirects_ends_where_tls_does(tmp_path: Path, echo: Echo, url: str) -> None:
    async def move(_: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": f"{url}/there"})

    authority = Authority()
    async with (
        served(all_to(move), authority.server(tmp_path)) as secure,
        Http(secure, tls=Tls(ca=authority.pem), trusts_redirects=True, network=NETWORK) as http,
    ):
        with pytest.raises(Malformed, match="without TLS") as caught:
            await http.request("GET", "/", doing="reading", headers={"X-Token": CANARY})

    assert caught.value.hint
    assert echo.seen == []


@pytest.mark.parametrize(
    ("address", "here"),
    [
        pytest.param("https://vault.example/secrets", True, id="the same"),
        pytest.param("https://Vault.example:443/secrets", True, id="its usual port, in any case"),
        pytest.param("https://vault.example:444/secrets", False, id="another port"),
        pytest.param("http://vault.example/secrets", False, id="another scheme"),
        pytest.param("https://vault.example.org/secrets", False, id="another host"),
        pytest.param("https://vault.example@elsewhere.example/", False, id="a user that looks like a host"),
        pytest.param("nonsense", False, id="no address"),
    ],
)
def test_an_address_leads_to_the_server_of_the_store(address: str, *, here: bool) -> None:
    assert Http("https://vault.example/", network=NETWORK).is_own_server(address) is here


@pytest.mark.parametrize(
    ("method", "location", "expected"),
    [
        pytest.param("GET", "/again", "in circles", id="for ever"),
        pytest.param("POST", "/there", "lose its body", id="post"),
        pytest.param("GET", "file:///etc/passwd", "not one of an HTTP server", id="no HTTP"),
        pytest.param("GET", "http://[::", "not one of an HTTP server", id="half an address"),
    ],
)
async def test_bad_redirects_are_reported(
    echo: Echo, url: str, method: str, location: str, expected: str
) -> None:
    echo.answer = lambda _: web.Response(status=302, headers={"Location": location})
    async with Http(url, network=NETWORK) as http:
        with pytest.raises(Malformed, match=expected):
            await http.request(method, "/", doing="reading")


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param("127.0.0.1:1", id="no scheme"),
        pytest.param("ftp://127.0.0.1", id="another scheme"),
        pytest.param("http://", id="no host"),
        pytest.param("http://[::1", id="half an address"),
        pytest.param("http://h:99999", id="no port"),
    ],
)
async def test_an_address_that_is_none(bad: str) -> None:
    async with Http(bad, network=NETWORK) as http:
        with pytest.raises(Malformed, match="URL"):
            await http.request("GET", "/", doing="reading")


async def test_line_breaks_get_nowhere(echo: Echo, url: str) -> None:
    async with Http(url, network=NETWORK) as http:
        with pytest.raises(Malformed, match="line break"):
            await http.request("GET", "/", doing="reading", headers={"X-A": f"{CANARY}\r\nX-B: c"})
        await http.request("GET", "/a?q=b\r\nX-B: c", doing="reading")

    [request] = echo.seen
    assert request.raw_path == "/a?q=b%0D%0AX-B:%20c"
    assert "X-B" not in request.headers


async def test_bytes_that_are_no_text_get_nowhere(echo: Echo, url: str) -> None:
    async with Http(url, network=NETWORK) as http:
        with pytest.raises(Malformed, match="no text") as caught:
            await http.request("GET", f"/a?key={CANARY}\udcff", doing="reading")

    assert echo.seen == []
    assert CANARY not in printed(caught.value)
    assert caught.value.__context__ is None, "the encoder's error holds the whole URL"


@pytest.mark.parametrize("part", [".", "..", ""])
def test_what_leads_elsewhere_is_no_part_of_a_path(part: str) -> None:
    with pytest.raises(Malformed):
        segments("a", part)


async def test_no_server_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with Http(f"http://127.0.0.1:{taken.getsockname()[1]}", network=NETWORK) as http:
            with pytest.raises(Unavailable, match="refuses connections") as caught:
                await http.request("GET", f"/?token={CANARY}", doing="reading")

    assert caught.value.hint
    assert CANARY not in printed(caught.value)


async def test_a_host_without_an_address() -> None:
    async with Http("http://no-such-host.invalid", network=NETWORK) as http:
        with pytest.raises(Unavailable, match="has no address"):
            await http.request("GET", "/", doing="reading")


async def test_no_answer_in_time(echo: Echo, url: str) -> None:
    async def wait(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()  # until the caller has gone
        return web.Response()

    async with (
        served(all_to(wait)) as slow,
        Http(slow, timeouts=Timeouts(total=0.05), network=NETWORK) as http,
    ):
        with pytest.raises(Unavailable, match="no answer in time"):
            await http.request("GET", "/", doing="reading")


@pytest.mark.parametrize("size", [2**20, 2**20 + 1, 3 * 2**20])
@pytest.mark.parametrize("may_leave", [None, lambda: True], ids=["any", "guarded"])
async def test_a_large_body_is_sent_whole_and_warns_nobody(
    size: int, may_leave: Callable[[], bool] | None
) -> None:
    async def count(request: web.Request) -> web.StreamResponse:
        return web.json_response([request.content_length, len(await request.content.read())])

    async with served(all_to(count)) as url, Http(url, network=None) as http:
        body = Body(b"x" * size, "application/json", may_leave)
        answer = await http.request("PUT", "/", doing="writing", body=body)
    assert answer.json() == [size, size]


@pytest.mark.parametrize("encoding", ["br", "gzip"])
@pytest.mark.parametrize(
    ("status", "expected"), [(401, Unauthenticated), (429, Throttled), (503, Unavailable), (404, Malformed)]
)
async def test_an_error_is_told_by_its_status_however_it_is_compressed(
    echo: Echo, url: str, encoding: str, status: int, expected: type[SyncError]
) -> None:
    headers = {"Content-Encoding": encoding}
    echo.answer = lambda _: web.Response(status=status, headers=headers, body=b"no such thing")
    async with Http(url, network=NETWORK) as http:
        with pytest.raises(expected, match=f"reading key a: HTTP {status}"):
            await http.request("GET", "/", doing="reading key a")


async def test_an_answer_that_cannot_be_inflated_says_what_was_done(echo: Echo, url: str) -> None:
    echo.answer = lambda _: web.Response(headers={"Content-Encoding": "br"}, body=b"x")
    async with Http(url, network=NETWORK) as http:
        with pytest.raises(Malformed, match="reading key a: the answer is compressed"):
            await http.request("GET", "/", doing="reading key a")


async def test_no_change_is_no_body_to_inflate(echo: Echo, url: str) -> None:
    echo.answer = lambda _: web.Response(status=304, headers={"Content-Encoding": "br"})
    async with Http(url, network=NETWORK) as http:
        assert (await http.request("GET", "/", doing="reading", accept=(304,))).body == b""


async def test_a_proxy_that_wants_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    proxy = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with proxy, Http("https://elsewhere.example", network=NETWORK) as http:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        with pytest.raises(Denied, match=r"the proxy on the way .* wants a login") as caught:
            await http.request("GET", "/", doing="reading")

    assert caught.value.hint == "write it into HTTPS_PROXY"


async def test_an_international_host(echo: Echo, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", url)
    async with Http("http://user@Tresor.müller.example:8200", network=NETWORK) as http:
        await http.request("GET", "/ü?ä#x", doing="reading")

    assert echo.seen[0].headers["Host"] == "tresor.xn--mller-kva.example:8200"
    assert echo.seen[0].raw_path.endswith("/%C3%BC?%C3%A4")


async def test_a_proxy_is_asked_for_what_is_not_here(
    echo: Echo, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", url)
    async with Http("http://elsewhere.example", network=NETWORK) as http:
        await http.request("GET", "/a", doing="reading")
        monkeypatch.setenv("NO_PROXY", ".example")
        with pytest.raises(Unavailable, match=r"elsewhere\.example has no address"):
            await http.request("GET", "/a", doing="reading")

    assert [request.host for request in echo.seen] == ["elsewhere.example"]


async def test_a_proxy_of_its_own_comes_before_that_of_the_environment(
    echo: Echo, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", ".example")
    async with Http("http://elsewhere.example", network=None, proxy=url) as http:
        await http.request("GET", "/a", doing="reading")
    assert [request.host for request in echo.seen] == ["elsewhere.example"]
