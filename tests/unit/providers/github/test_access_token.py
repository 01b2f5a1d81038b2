"""GithubAccessToken, at a server that verifies what it is sent."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.github.access_token import ACCESS_TOKEN
from tests.support.jwts import BadToken, pem, private_key, verified
from tests.support.opened import NOW, Given, context
from tests.support.served import all_to, served

KEY = private_key("github-app")
CANARY = "canary-8a3c"


class GitHub:
    """One App with one installation, as GitHub's REST API has them."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.answer: web.Response | None = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.answer is not None:
            return self.answer

        def key_of(_kid: str) -> RSAPublicKey:
            return KEY.public_key()

        scheme, _, token = request.headers["Authorization"].partition(" ")
        try:
            claims = verified(token, key_of, now=NOW)
        except BadToken:
            claims = {}
        if scheme != "Bearer" or claims.get("iss") != "123" or claims["exp"] - claims["iat"] > 600:
            return web.json_response({"message": CANARY}, status=401)
        if (request.method, request.path) != ("POST", "/api/v3/app/installations/456/access_tokens"):
            return web.json_response({"message": "Not Found"}, status=404)
        assert request.headers["Accept"] == "application/vnd.github.v3+json"
        assert request.headers["User-Agent"], "GitHub refuses requests without"
        self.asked.append(await request.json() if request.can_read_body else {})
        if "other" in self.asked[-1].get("repositories", ()):
            return web.json_response({"message": CANARY}, status=422)
        issued = {"token": "ghs_16C7e42F292c69", "expires_at": "2026-11-18T17:00:00Z"}
        return web.json_response(issued, status=201)


@pytest.fixture
async def github() -> AsyncIterator[GitHub]:
    github = GitHub()
    async with served(all_to(github.handle)) as url:
        github.url = f"{url}/api/v3"
        yield github


async def drawn(github: GitHub, *, key: bytes = pem(KEY).encode(), **spec: object) -> dict[str, bytes]:
    document = {
        "appID": "123",
        "installID": "456",
        "url": github.url,
        "auth": {"privateKey": {"secretRef": {"name": "app", "key": "pem"}}},
        **spec,
    }
    decoded = msgspec.convert(document, ACCESS_TOKEN.spec.model)
    assert ACCESS_TOKEN.generate is not None
    made = await ACCESS_TOKEN.generate(decoded, context(Given(secrets={"app": {"pem": key}})))
    assert made.state is None
    return {name: value.raw for name, value in made.values.items()}


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({}, id="all"),
        pytest.param({"repositories": ["a", "b"]}, id="some repositories"),
        pytest.param({"permissions": {"contents": "read"}}, id="some permissions"),
        pytest.param({"repositories": ["a"], "permissions": {"contents": "read"}}, id="both"),
    ],
)
async def test_a_token(github: GitHub, wanted: dict[str, Any]) -> None:
    assert await drawn(github, **wanted) == {"token": b"ghs_16C7e42F292c69"}
    assert github.asked == [wanted]


@pytest.mark.parametrize(
    ("spec", "error", "expected"),
    [
        pytest.param(
            {"key": pem(private_key("another")).encode()},
            Denied,
            "not known by this key (HTTP 401)",
            id="key",
        ),
        pytest.param({"appID": "124"}, Denied, "not known by this key (HTTP 401)", id="App"),
        pytest.param({"installID": "457"}, Malformed, "no such installation of the App", id="installation"),
        pytest.param({"installID": "../x"}, Malformed, "no such installation of the App", id="a path"),
        pytest.param(
            {"repositories": ["other"]}, Denied, "does not have these repositories", id="repository"
        ),
        pytest.param({"key": CANARY.encode()}, Malformed, "holds no RSA private key in PEM", id="no key"),
    ],
)
async def test_refusals(github: GitHub, spec: dict[str, Any], error: type[SyncError], expected: str) -> None:
    with pytest.raises(error) as caught:
        await drawn(github, **spec)
    assert expected in str(caught.value)
    assert caught.value.hint
    assert CANARY not in f"{caught.value!r} {caught.value.hint} {caught.value.__context__!r}"


@pytest.mark.parametrize(
    ("headers", "after"),
    [
        pytest.param({"Retry-After": "60"}, 60, id="Retry-After"),
        pytest.param({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 90)}, 90, id="reset"),
        pytest.param({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "?"}, 60, id="unknown"),
        pytest.param({"Retry-After": "Fri, 13 Feb 2009 23:32:30 GMT"}, 60, id="a date"),
        pytest.param({"Retry-After": "9" * 400}, 86400, id="for ever"),
        pytest.param({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 5000}, 60, id="no number"),
    ],
)
async def test_too_many_calls(github: GitHub, headers: dict[str, str], after: float) -> None:
    github.answer = web.Response(status=403, text=CANARY, headers=headers)
    with pytest.raises(Throttled) as caught:
        await drawn(github)
    assert caught.value.retry_after == after


@pytest.mark.parametrize("headers", [{}, {"X-RateLimit-Remaining": "4990"}])
async def test_a_secondary_limit_without_a_time(github: GitHub, headers: dict[str, str]) -> None:
    message = {"message": f"You have exceeded a Secondary Rate limit. {CANARY}"}
    github.answer = web.json_response(message, status=403, headers=headers)
    with pytest.raises(Throttled) as caught:
        await drawn(github)
    assert caught.value.retry_after == 60
    assert CANARY not in f"{caught.value!r} {caught.value.__context__!r}"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(web.Response(status=403, text=CANARY), "the App may not do this", id="suspended"),
        pytest.param(
            web.Response(status=201, text=f"<html>{CANARY}", content_type="text/html"),
            "the answer is HTML",
            id="HTML",
        ),
        pytest.param(web.json_response({"token": [CANARY]}), "another shape", id="no text"),
        pytest.param(web.json_response({"message": CANARY}), "another shape", id="no token"),
    ],
)
async def test_answers(github: GitHub, answer: web.Response, expected: str) -> None:
    github.answer = answer
    with pytest.raises(SyncError, match=expected) as caught:
        await drawn(github)
    assert CANARY not in f"{caught.value!r} {caught.value.__context__!r}"
