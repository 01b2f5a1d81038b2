"""Whom Http trusts, how it proves itself, and what it says when either fails."""

import asyncio
import gc
import socket
import ssl
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.kit.http import Http, Tls, tls
from tests.support.opened import NETWORK
from tests.support.served import all_to, served
from tests.support.tls import Authority, trust
from tests.support.tunnel import tunnel_to


async def ok(request: web.Request) -> web.StreamResponse:
    certificate = request.transport.get_extra_info("peercert") if request.transport else None
    return web.json_response({"client": bool(certificate)})


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


async def ask(url: str, tls: Tls) -> object:
    async with Http(url, tls=tls, network=NETWORK) as http:
        return (await http.request("GET", "/", doing="reading key a")).json()


async def test_a_bundle_is_trusted(authority: Authority, tmp_path: Path) -> None:
    bundle = b"# ours\n" + Authority("another").pem + authority.pem
    async with served(all_to(ok), authority.server(tmp_path)) as url:
        assert await ask(url, Tls(ca=bundle)) == {"client": False}


async def test_a_server_may_have_the_certificate_of_another_name(
    authority: Authority, tmp_path: Path
) -> None:
    async with served(all_to(ok), authority.server(tmp_path, "api.example")) as url:
        assert await ask(url, Tls(ca=authority.pem, server_name="api.example")) == {"client": False}
        with pytest.raises(SyncError, match=r"certificate|name"):
            await ask(url, Tls(ca=authority.pem))
        with pytest.raises(SyncError, match=r"certificate|name"):
            await ask(url, Tls(ca=authority.pem, server_name="other.example"))


async def test_a_client_certificate_is_shown(authority: Authority, tmp_path: Path) -> None:
    pair = authority.pair("client")
    before = open_files()
    async with served(all_to(ok), authority.server(tmp_path, clients=True)) as url:
        answered = await ask(url, Tls(ca=authority.pem, certificate=pair.certificate, key=pair.key))

    assert answered == {"client": True}
    assert open_files() - before <= 1, "nothing of the key stays open"


@pytest.mark.parametrize(
    ("tls", "options", "error", "expected"),
    [
        pytest.param("none", {}, Malformed, "is not trusted", id="unknown authority"),
        pytest.param("other", {}, Malformed, "is not trusted", id="wrong bundle"),
        pytest.param("own", {"name": "vault.example"}, Malformed, "for another name", id="another address"),
        pytest.param("own", {"days": -1}, Unavailable, "has expired", id="expired"),
        pytest.param("own", {"clients": True}, Unavailable, "closed the", id="no client certificate"),
    ],
)
async def test_a_handshake_that_fails(
    authority: Authority,
    tmp_path: Path,
    tls: str,
    options: dict[str, object],
    error: type[SyncError],
    expected: str,
) -> None:
    bundle = {"none": b"", "other": Authority("another").pem, "own": authority.pem}[tls]
    async with served(all_to(ok), authority.server(tmp_path, **options)) as url:  # type: ignore[arg-type]  # a table
        with pytest.raises(error, match=expected) as caught:
            await ask(url, Tls(ca=bundle))

    assert caught.value.hint


async def test_trust_can_be_switched_off(authority: Authority, tmp_path: Path) -> None:
    async with served(all_to(ok), authority.server(tmp_path, "elsewhere.example")) as url:
        assert await ask(url, Tls(verify=False)) == {"client": False}


async def test_a_server_without_tls() -> None:
    async with served(all_to(ok)) as url:
        with pytest.raises(Malformed, match="does not speak TLS"):
            await ask(url.replace("http:", "https:"), Tls())


@pytest.mark.parametrize(
    "pem",
    [
        pytest.param(b"not PEM", id="text"),
        pytest.param(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", id="no certificate"),
        pytest.param("\u00fc".encode(), id="not ASCII"),
        pytest.param(
            Authority().pem.replace(b"\nMII", "\nMI\u00fcI".encode()), id="not ASCII inside of a block"
        ),
    ],
)
def test_a_bundle_that_is_none(pem: bytes) -> None:
    with pytest.raises(Malformed, match="CA bundle"):
        Tls(ca=pem).of_session()


def test_a_bundle_may_have_comments_in_any_language(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(monkeypatch)
    pem = "# F\u0151tan\u00fas\u00edtv\u00e1ny\n".encode() + authority.pem
    assert trusted_by(Tls(ca=pem).of_session()) == {"Test authority"}
    tls.beside.add(pem)
    assert "Test authority" in trusted_by(Tls().of_session())


def test_a_pair_that_is_none(authority: Authority) -> None:
    one, two = authority.pair("a"), authority.pair("b")
    for certificate, key in (
        (one.certificate, two.key),
        (one.certificate, b""),
        (b"", one.key),
        (b"x", b"y"),
    ):
        with pytest.raises(Malformed, match="client certificate"):
            Tls(ca=authority.pem, certificate=certificate, key=key).of_session()


async def test_the_system_s_store_is_trusted_by_the_same_rules(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Go: a certificate in it is trusted though its issuer is not there."""
    trust(monkeypatch)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
    async with served(all_to(ok), authority.server(tmp_path)) as url:
        assert await ask(url, Tls()) == {"client": False}


def test_contexts_are_shared_without_a_key_only(authority: Authority) -> None:
    pair = authority.pair("client")
    own = Tls(ca=authority.pem, certificate=pair.certificate, key=pair.key)

    assert Tls(ca=authority.pem).of_session() is Tls(ca=authority.pem).of_session()
    assert Tls().of_session() is Tls().of_session()
    assert own.of_session() is not own.of_session()
    assert "PRIVATE" not in repr(own)


def test_contexts_for_a_protocol_are_shared_without_a_key_only(authority: Authority) -> None:
    pair = authority.pair("client")
    known = Tls(ca=authority.pem, certificate=pair.certificate, key=pair.key)

    assert Tls(ca=authority.pem).for_protocol("h2") is Tls(ca=authority.pem).for_protocol("h2")
    assert known.for_protocol("h2") is not known.for_protocol("h2")
    assert Tls(ca=authority.pem).for_protocol("h2") is not Tls(ca=authority.pem).of_session()


@pytest.mark.parametrize("kind", ["plain", "client certificate", "another name", "a protocol"])
def test_what_is_trusted_beside_the_system_s(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Before a context is made, and after it."""
    trust(monkeypatch, authority)
    pair, other = authority.pair("client"), Authority("another")
    contexts: dict[str, Callable[[], ssl.SSLContext]] = {
        "plain": Tls().of_session,
        "client certificate": Tls(certificate=pair.certificate, key=pair.key).of_session,
        "another name": Tls(server_name="api.example").of_session,
        "a protocol": partial(Tls().for_protocol, "h2"),
    }
    made = contexts[kind]()
    before = trusted_by(made)
    tls.beside.add(other.pem)

    assert {"Test authority"} <= before
    assert trusted_by(made) == before | {"another"}


def test_a_store_s_own_authority_stands_alone(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    trust(monkeypatch, Authority("another"))

    assert trusted_by(Tls(ca=authority.pem).of_session()) == {"Test authority"}


async def test_an_open_client_trusts_what_comes_later(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(monkeypatch)
    async with served(all_to(ok), authority.server(tmp_path)) as url, Http(url, network=NETWORK) as http:
        with pytest.raises(Malformed, match="is not trusted"):
            await http.request("GET", "/", doing="reading key a")
        tls.beside.add(authority.pem)
        assert (await http.request("GET", "/", doing="reading key a")).json() == {"client": False}


def trusted_by(context: ssl.SSLContext) -> set[str]:
    """The common names of authorities that a context trusts."""
    subjects: list[Any] = [each["subject"] for each in context.get_ca_certs()]
    return {value for subject in subjects for ((name, value),) in subject if name == "commonName"}


async def test_a_proxy_leads_to_a_server_with_tls(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        served(all_to(ok), authority.server(tmp_path, "vault.example")) as url,
        tunnel_to(int(url.rpartition(":")[2])) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert await ask("https://vault.example:8200", Tls(ca=authority.pem)) == {"client": False}
        with pytest.raises(Malformed, match="for another name"):
            await ask("https://other.example", Tls(ca=authority.pem))
        await proxy.wait_closed()

    assert proxy.asked == ["CONNECT vault.example:8200 HTTP/1.1", "CONNECT other.example:443 HTTP/1.1"]


def test_a_connection_whose_server_says_no_goodbye_is_closed_all_the_same(tmp_path: Path) -> None:
    """Before Python 3.12.8 it stayed open until the garbage collector came."""
    authority = Authority()
    server_tls = authority.server(tmp_path)
    silent: list[socket.socket] = []

    def serve(listener: socket.socket, answered: Callable[[], object]) -> None:
        """Shake hands, begin an answer, and never read again."""
        plain, _ = listener.accept()
        secure = server_tls.wrap_socket(plain, server_side=True)
        secure.recv(65536)
        secure.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhalf")
        silent.append(secure)
        answered()

    async def ask(listener: socket.socket) -> None:
        tls, answered = Tls(ca=authority.pem), asyncio.Event()
        loop = asyncio.get_running_loop()
        serving = asyncio.to_thread(serve, listener, partial(loop.call_soon_threadsafe, answered.set))
        async with Http(f"https://127.0.0.1:{listener.getsockname()[1]}", tls=tls, network=None) as http:
            asking = asyncio.create_task(http.request("GET", "/", doing="asking"))
            await asyncio.gather(serving, answered.wait())
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    with socket.create_server(("127.0.0.1", 0)) as listener, warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always")
        asyncio.run(ask(listener))
        gc.collect()
    for each in silent:
        each.close()
    assert [str(each.message) for each in left if each.category is ResourceWarning] == []


async def test_a_connection_takes_little_memory(authority: Authority, tmp_path: Path) -> None:
    """A home in a cluster has a connection for each kind that it watches."""
    together = asyncio.Barrier(10)

    async def held(request: web.Request) -> web.StreamResponse:
        await together.wait()
        return await ok(request)

    async with (
        served(all_to(held), authority.server(tmp_path)) as url,
        Http(url, tls=Tls(ca=authority.pem), network=NETWORK) as http,
    ):
        tracemalloc.start()
        try:
            await asyncio.gather(*(http.request("GET", "/", doing="reading key a") for _ in range(10)))
            taken = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    assert taken < 20 * 100_000, "of ten clients and of the server's ten connections"
