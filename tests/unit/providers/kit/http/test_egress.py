"""Egress of Http: judged on what a name leads to, at each redirect, and by name where a proxy resolves."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.http import Http
from syncret.providers.network import Egress, Network
from tests.support.opened import NETWORK
from tests.support.served import all_to, served

NO_LOOPBACK = Network(egress=Egress(deny=("loopback",)))


class Server:
    """Counts what reaches it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.location = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.raw_path}")
        headers = {"Location": self.location} if self.location else {}
        return web.Response(status=307 if self.location else 200, headers=headers)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def url(server: Server) -> AsyncIterator[str]:
    async with served(all_to(server.handle)) as url:
        yield url


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::ffff:127.0.0.1]"])
async def test_a_denied_server_hears_nothing(server: Server, url: str, host: str) -> None:
    async with Http(url.replace("127.0.0.1", host), network=NO_LOOPBACK) as http:
        with pytest.raises(Denied, match=r"^reading: .* may not be reached: egress\.deny has loopback"):
            await http.request("GET", "/", doing="reading")
    assert server.asked == []


async def test_a_name_that_is_allowed(server: Server, url: str) -> None:
    network = Network(egress=Egress(allow=("localhost",), deny=("loopback",)))
    async with Http(url.replace("127.0.0.1", "localhost"), network=network) as http:
        await http.request("GET", "/a", doing="reading")
    assert server.asked == ["GET /a"]


async def test_a_redirect_is_judged_too(server: Server, url: str) -> None:
    server.location = "http://169.254.169.254/latest"
    async with Http(url, trusts_redirects=True, network=NETWORK) as http:
        with pytest.raises(Denied, match=r"169\.254\.169\.254 may not be reached"):
            await http.request("GET", "/", doing="reading")
    assert server.asked == ["GET /"]


async def test_a_proxy_is_the_daemons_own_choice(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", url)
    async with Http("http://elsewhere.example", network=NO_LOOPBACK) as http:
        await http.request("GET", "/a", doing="reading")
    assert server.asked == ["GET http://elsewhere.example/a"]


@pytest.mark.parametrize("target", ["http://100.100.100.200", "http://a.internal"])
async def test_a_proxy_is_not_asked_for_what_is_denied(
    server: Server, url: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", url)
    network = Network(egress=Egress(deny=("metadata", "*.internal")))
    async with Http(target, network=network) as http:
        with pytest.raises(Denied, match="may not be reached"):
            await http.request("GET", "/a", doing="reading")
    assert server.asked == []


async def test_a_name_that_leads_elsewhere_later(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    system, leads_to = loop.getaddrinfo, "127.0.0.1"

    async def rebound(host: str | None, *arguments: object, **options: object) -> object:
        return await system(leads_to if host == "rebound.example" else host, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "getaddrinfo", rebound)
    address = url.replace("127.0.0.1", "rebound.example")
    async with Http(address, network=NETWORK) as http:
        await http.request("GET", "/a", doing="reading")
    leads_to = "169.254.169.254"
    async with Http(address, network=NETWORK) as http:
        with pytest.raises(Denied, match=r"rebound\.example \(169\.254\.169\.254\)"):
            await http.request("GET", "/b", doing="reading")
    assert server.asked == ["GET /a"]


@pytest.mark.parametrize(
    "name", ["Host", "content-length", "Transfer-Encoding", "Connection", " Upgrade", "TE"]
)
async def test_headers_of_the_connection_are_refused(server: Server, url: str, name: str) -> None:
    async with Http(url, network=NETWORK) as http:
        with pytest.raises(Malformed, match=f"the header {name.strip()} is for the connection to set"):
            await http.request("GET", "/", doing="reading", headers={name: "4"})
    assert server.asked == []
