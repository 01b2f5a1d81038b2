"""NTLMv2 with the numbers of MS-NLMP 4.2.4, MD4 with those of RFC 1320, and a server that verifies."""

import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import pytest
from aiohttp import web

from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.http import Http, Unauthenticated, json_body
from syncret.providers.kit.ntlm import Login, NtlmHttp, messages
from tests.support.opened import NETWORK, NOW, log_in
from tests.support.served import all_to, served
from tests.support.servers.webhook import NtlmApi

T = TypeVar("T")

SERVER_NONCE = bytes.fromhex("0123456789abcdef")
OUR_NONCE = b"\xaa" * 8
INFO = bytes.fromhex("02000c0044006f006d00610069006e0001000c005300650072007600650072000000 0000")
CHALLENGE = messages.Challenge(SERVER_NONCE, messages.FLAGS, INFO)


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
        ("message digest", "d9130a8164549fe818874806e1c7014b"),
        ("1234567890" * 8, "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ],
)
def test_md4(text: str, digest: str) -> None:
    assert messages.md4(text.encode()).hex() == digest


def test_the_numbers_of_the_specification() -> None:
    key = messages.response_key("User", "Domain", "Password")
    proof = messages.answer(key, CHALLENGE, OUR_NONCE, b"\x00" * 8)
    message = messages.authenticate(CHALLENGE, "Domain\\User", "Password", nonce=OUR_NONCE, now=NOW)
    length, _, place = struct.unpack_from("<HHI", message, 12)

    assert key.hex() == "0c868a403bfd7a93a3001ef22ef02e3f"
    assert proof[:16].hex() == "68cd0ab851e51c96aabc927bebef6a1c"
    assert message[place : place + length].hex() == "86c35097ac9cec102554764a57cccc19" + "aa" * 8


def test_the_servers_time_counts() -> None:
    moment = struct.pack("<Q", 7)
    assert messages.timestamp(b"\x07\x00\x08\x00" + moment + INFO) == moment
    assert messages.timestamp(INFO) is None
    assert messages.timestamp(b"\x07") is None


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"NTLMSSP\x00\x02", id="short"),
        pytest.param(b"NTLMSSQ\x00\x02" + b"\x00" * 60, id="another"),
        pytest.param(messages.negotiate() + b"\x00" * 60, id="not a challenge"),
        pytest.param(
            b"NTLMSSP\x00\x02\x00\x00\x00" + b"\x00" * 28 + b"\xff" * 8 + b"\x00" * 8, id="beyond its end"
        ),
    ],
)
def test_a_challenge_that_is_none(message: bytes) -> None:
    with pytest.raises(Malformed):
        messages.read_challenge(message)


async def test_a_user_is_let_in() -> None:
    api = NtlmApi("ada", "CORP", "s3cret")
    async with served(api.app()) as url, Http(url, connections=1, network=NETWORK) as http:
        user = NtlmHttp(http, Login("CORP\\ada", "s3cret"), lambda: NOW, log_in)
        answers = [
            await user.request(
                "POST", "/a", doing="asking", headers={"authorization": "x"}, body=json_body(n)
            )
            for n in range(3)
        ]

    assert [answer.json() for answer in answers] == [0, 1, 2]
    assert api.handshakes == 1, "a connection stays let in"
    assert "s3cret" not in repr(user)


@pytest.mark.parametrize(
    "offers",
    [
        pytest.param(("Negotiate", "NTLM"), id="IIS"),
        pytest.param(("NTLM", 'Basic realm="x"'), id="Basic last"),
        pytest.param(('Basic realm="x"', "NTLM"), id="Basic first"),
    ],
)
async def test_of_several_offers_the_password_is_not_sent_in_the_clear(offers: tuple[str, ...]) -> None:
    api = NtlmApi("ada", "CORP", "s3cret", offers=offers)
    async with served(api.app()) as url, Http(url, connections=1, network=NETWORK) as http:
        user = NtlmHttp(http, Login("CORP\\ada", "s3cret"), lambda: NOW, log_in)
        answer = await user.request("GET", "/a", doing="asking")

    assert answer.body == b"ok"
    assert api.schemes == {"", "NTLM"}


async def test_the_password_is_never_sent_even_if_nothing_else_is_offered() -> None:
    api = NtlmApi("ada", "CORP", "s3cret", offers=('Basic realm="x"',))
    async with served(api.app()) as url, Http(url, connections=1, network=NETWORK) as http:
        with pytest.raises(Denied, match="the server offers no login by NTLM") as caught:
            await NtlmHttp(http, Login("ada", "s3cret"), lambda: NOW, log_in).request(
                "GET", "/a", doing="asking"
            )
    assert caught.value.hint
    assert api.schemes == {""}


async def test_a_wrong_password_is_reported() -> None:
    async with (
        served(NtlmApi("ada", "", "right").app()) as url,
        Http(url, connections=1, network=NETWORK) as http,
    ):
        with pytest.raises(Unauthenticated, match="refuses this user"):
            await NtlmHttp(http, Login("ada", "wrong"), lambda: NOW, log_in).request(
                "GET", "/", doing="asking"
            )


async def test_a_refused_user_is_told_to_who_decides_on_the_next_login() -> None:
    refused: list[str] = []

    async def noted(login: Callable[[], Awaitable[T]]) -> T:
        try:
            return await login()
        except Denied as error:
            refused.append(error.message)
            raise

    api = NtlmApi("ada", "", "right")
    async with served(api.app()) as url, Http(url, connections=1, network=NETWORK) as http:
        for password in ("wrong", "right"):
            user = NtlmHttp(http, Login("ada", password), lambda: NOW, noted)
            with suppress(Unauthenticated):
                await user.request("GET", "/a", doing="asking")
    assert (api.handshakes, refused) == (
        2,
        ["asking: logging in by NTLM: the server refuses this user (HTTP 401)"],
    )


async def test_what_a_known_user_may_not_do_is_no_refused_login() -> None:
    logins: list[object] = []

    async def noted(login: Callable[[], Awaitable[T]]) -> T:
        result = await login()
        logins.append(result)
        return result

    async def forbidding(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization", "").startswith("NTLM "):
            return web.Response(status=403)
        return web.Response(status=401, headers={"WWW-Authenticate": "NTLM"})

    async with served(all_to(forbidding)) as url, Http(url, connections=1, network=NETWORK) as http:
        user = NtlmHttp(http, Login("ada", "s3cret"), lambda: NOW, noted)
        with pytest.raises(Denied, match="403 Forbidden"):
            await user.request("GET", "/a", doing="asking")
    assert len(logins) == 1


def test_an_unauthenticated_is_denied() -> None:
    assert issubclass(Unauthenticated, Denied)


@pytest.mark.parametrize("challenge", ["", "%%%", "é", "bm9uZQ=="])
async def test_a_server_that_gives_no_challenge(challenge: str) -> None:
    async def refuse(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=401, headers={"WWW-Authenticate": f"NTLM {challenge}".strip()})

    async with served(all_to(refuse)) as url, Http(url, connections=1, network=NETWORK) as http:
        user = NtlmHttp(http, Login("ada", "s3cret"), lambda: NOW, log_in)
        with pytest.raises(Malformed, match="challenge"):
            await user.request("GET", "/a", doing="asking")
