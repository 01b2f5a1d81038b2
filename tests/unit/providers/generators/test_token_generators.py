"""Generators of tokens, at servers that take only what the vendors document."""

from base64 import b64decode, b64encode
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.daemon.trusted_ca import trusted_ca
from syncret.providers.contract import Generated, Generator, IssuedToken
from syncret.providers.errors import Denied, Malformed, Unavailable
from syncret.providers.generators.cloudsmith import GENERATOR as CLOUDSMITH
from syncret.providers.generators.grafana import GENERATOR as GRAFANA
from syncret.providers.generators.quay import GENERATOR as QUAY
from syncret.providers.gitlab.deploy_token import DEPLOY_TOKEN
from syncret.providers.values import SecretBytes
from tests.support.jwts import private_key, signed
from tests.support.opened import NOW, Given, context
from tests.support.served import all_to, served
from tests.support.tls import Authority

ISSUED: Final = signed({"exp": 1_800_000_000}, private_key("vendor"), kid="1")
CANARY: Final = "canary-4b1d"
GIVEN: Final = Given(
    secrets={"login": {"token": f"{CANARY}\n".encode()}},
    tokens={"app": IssuedToken(SecretBytes(b"the-jwt"), NOW + 600)},
)
SELECTED: Final = {"name": "login", "key": "token"}


async def made(generator: Generator[Any], document: Document) -> Generated:
    assert generator.generate is not None
    return await generator.generate(msgspec.convert(document, generator.spec.model), context(GIVEN))


async def cleaned(generator: Generator[Any], document: Document, state: Document) -> None:
    assert generator.cleanup is not None
    await generator.cleanup(msgspec.convert(document, generator.spec.model), state, context(GIVEN))


def texts(generated: Generated) -> dict[str, str]:
    return {name: value.raw.decode() for name, value in generated.values.items()}


class Server:
    """Answers each request as a table says, by method, path and query; anything else with 404."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.asked: list[tuple[str, Any]] = []
        self.header = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else None
        self.asked.append((f"{request.method} {request.rel_url}", body))
        self.header = request.headers.get("Authorization", "") or request.headers.get("PRIVATE-TOKEN", "")
        status, answer = self.answers.get(
            f"{request.method} {request.rel_url}", (404, {"message": f"404 {CANARY}"})
        )
        return web.json_response(answer, status=status)


CLOUDSMITH_SPEC: Final[Document] = {
    "orgSlug": "acme",
    "serviceSlug": "deploy",
    "serviceAccountRef": {"name": "app"},
}


async def test_cloudsmith() -> None:
    server = Server()
    server.answers["POST /openid/acme/"] = 201, {"token": ISSUED}
    async with served(all_to(server.handle)) as url:
        found = texts(await made(CLOUDSMITH, {**CLOUDSMITH_SPEC, "apiUrl": url}))

    assert found == {"auth": b64encode(f"token:{ISSUED}".encode()).decode(), "expiry": "1800000000"}
    assert server.asked == [("POST /openid/acme/", {"oidc_token": "the-jwt", "service_slug": "deploy"})]


async def test_quay(tmp_path: Path) -> None:
    authority, server = Authority(), Server()
    server.answers["GET /oauth2/federation/robot/token"] = 200, {"token": ISSUED}
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    async with (
        trusted_ca(str(tmp_path / "ca.pem")),
        served(all_to(server.handle), authority.server(tmp_path)) as url,
    ):
        host = url.removeprefix("https://")
        spec = {"robotAccount": "acme+deploy", "serviceAccountRef": {"name": "app"}, "url": host}
        found = texts(await made(QUAY, spec))

    login = b64encode(f"acme+deploy:{ISSUED}".encode()).decode()
    assert found == {"registry": host, "auth": login, "expiry": "1800000000"}
    assert b64decode(server.header.removeprefix("Basic ")) == b"acme+deploy:the-jwt"


GRAFANA_SPEC: Final[Document] = {
    "auth": {"basic": {"username": "admin", "password": SELECTED}},
    "serviceAccount": {"name": "dash", "role": "Viewer", "secondsToLive": 60},
}


@pytest.mark.parametrize("exists", [pytest.param(True, id="there"), pytest.param(False, id="made")])
async def test_grafana(*, exists: bool) -> None:
    server, account = Server(), {"id": 7, "login": "sa-dash", "name": "dash"}
    others = [{"id": 6, "login": "sa-dash-2", "name": "dash-2"}]
    accounts = {"serviceAccounts": [*others, account] if exists else others}
    server.answers["GET /api/serviceaccounts/search?query=dash"] = 200, accounts
    server.answers["POST /api/serviceaccounts"] = 201, account
    server.answers["POST /api/serviceaccounts/7/tokens"] = 200, {"id": 3, "name": "x", "key": "glsa_1"}
    async with served(all_to(server.handle)) as url:
        generated = await made(GRAFANA, {**GRAFANA_SPEC, "url": url})

    assert texts(generated) == {"login": "sa-dash", "token": "glsa_1"}
    assert generated.state == {"serviceAccount": {"id": 7, "login": "sa-dash", "tokenID": 3}}
    assert server.asked[1:-1] == [("POST /api/serviceaccounts", {"name": "dash", "role": "Viewer"})] or exists
    assert server.asked[-1][1]["secondsToLive"] == 60
    assert b64decode(server.header.removeprefix("Basic ")).decode() == f"admin:{CANARY}"


GITLAB_SPEC: Final[Document] = {
    "projectID": "acme/shop",
    "name": "deploy",
    "scopes": ["read_registry"],
    "auth": {"token": {"secretRef": SELECTED}},
}


async def test_gitlab() -> None:
    server = Server()
    issued = {"id": 5, "name": "deploy", "username": "gitlab+deploy-token-5", "token": "gldt-1"}
    server.answers["POST /api/v4/projects/acme%2Fshop/deploy_tokens"] = 201, issued
    async with served(all_to(server.handle)) as url:
        generated = await made(
            DEPLOY_TOKEN, {**GITLAB_SPEC, "url": url, "username": "", "expiresAt": "2027-01-01T00:00:00Z"}
        )

    assert texts(generated) == {"username": "gitlab+deploy-token-5", "token": "gldt-1"}
    assert generated.state == {"url": url, "projectID": "acme/shop", "tokenID": 5}
    [(_, body)] = server.asked
    assert body == {"name": "deploy", "scopes": ["read_registry"], "expires_at": "2027-01-01T00:00:00Z"}
    assert server.header == CANARY


async def test_gitlab_of_a_group() -> None:
    """The operator finds the token again by what is in the state."""
    server = Server()
    server.answers["POST /api/v4/groups/acme/deploy_tokens"] = 201, {"id": 5, "username": "u", "token": "t"}
    document = {name: value for name, value in GITLAB_SPEC.items() if name != "projectID"}
    async with served(all_to(server.handle)) as url:
        generated = await made(DEPLOY_TOKEN, {**document, "url": url, "groupID": "acme"})

    assert generated.state == {"url": url, "groupID": "acme", "tokenID": 5}


_GITLAB: Final = "DELETE /api/v4/projects/acme%2Fshop/deploy_tokens/5"
_GRAFANA: Final = "DELETE /api/serviceaccounts/7/tokens/3"


@pytest.mark.parametrize(
    ("status", "answer", "raises"),
    [
        pytest.param(204, {}, None, id="deleted"),
        pytest.param(404, {"message": "404 Not found"}, None, id="gone"),
        pytest.param(404, {"message": "404 Deploy Token Not Found"}, None, id="gone, by its kind"),
        pytest.param(403, {"message": "403 Forbidden"}, Denied, id="forbidden"),
        pytest.param(404, {"message": "404 Project Not Found"}, Malformed, id="the project is not seen"),
        pytest.param(404, {"message": "404 Group Not Found"}, Malformed, id="the group is not seen"),
        pytest.param(404, {}, Malformed, id="something else's 404"),
        pytest.param(404, {"message": "Not Found"}, Malformed, id="a proxy's 404"),
        pytest.param(404, {"error": "404 Not Found"}, Malformed, id="no such path"),
    ],
)
async def test_a_deploy_token_is_revoked(
    status: int, answer: Document, raises: type[Exception] | None
) -> None:
    server = Server()
    server.answers[_GITLAB] = status, answer
    async with served(all_to(server.handle)) as url:
        await _ends(cleaned(DEPLOY_TOKEN, {**GITLAB_SPEC, "url": url}, {"tokenID": 5}), raises)

    assert server.asked == [(_GITLAB, None)]


async def test_the_clean_up_in_a_project_that_was_deleted() -> None:
    server = Server()
    server.answers[_GITLAB] = 404, {"message": "404 Project Not Found"}
    async with served(all_to(server.handle)) as url:
        with pytest.raises(
            Malformed, match="revoking deploy token 5: GitLab shows no such project"
        ) as caught:
            await cleaned(DEPLOY_TOKEN, {**GITLAB_SPEC, "url": url}, {"tokenID": 5})

    assert "remove the finalizer of this GeneratorState" in caught.value.hint


async def test_a_deploy_token_of_no_project() -> None:
    server = Server()
    server.answers["POST /api/v4/projects/acme%2Fshop/deploy_tokens"] = (
        404,
        {"message": "404 Project Not Found"},
    )
    async with served(all_to(server.handle)) as url:
        with pytest.raises(
            Malformed, match="creating deploy token deploy: GitLab shows no such project"
        ) as caught:
            await made(DEPLOY_TOKEN, {**GITLAB_SPEC, "url": url})

    assert caught.value.hint == "check projectID, and whether the token may see it"


@pytest.mark.parametrize(
    ("status", "message", "raises"),
    [
        pytest.param(200, "Service account token deleted", None, id="deleted"),
        pytest.param(404, "Service account token not found", None, id="gone"),
        pytest.param(403, "You'll need additional permissions", Denied, id="forbidden"),
        pytest.param(404, "", Malformed, id="something else's 404"),
    ],
)
async def test_a_token_of_grafana_is_deleted(
    status: int, message: str, raises: type[Exception] | None
) -> None:
    server, state = Server(), {"serviceAccount": {"id": 7, "login": "sa-dash", "tokenID": 3}}
    server.answers[_GRAFANA] = status, {"message": message}
    async with served(all_to(server.handle)) as url:
        await _ends(cleaned(GRAFANA, {**GRAFANA_SPEC, "url": url}, state), raises)

    assert server.asked == [(_GRAFANA, None)]


async def _ends(cleaning: Awaitable[None], raises: type[Exception] | None) -> None:
    if raises is None:
        await cleaning
        return
    with pytest.raises(raises):
        await cleaning


@pytest.mark.parametrize(
    ("generator", "document", "field"),
    [
        pytest.param(CLOUDSMITH, CLOUDSMITH_SPEC, "apiUrl", id="cloudsmith"),
        pytest.param(GRAFANA, GRAFANA_SPEC, "url", id="grafana"),
        pytest.param(DEPLOY_TOKEN, GITLAB_SPEC, "url", id="gitlab"),
    ],
)
@pytest.mark.parametrize(
    ("status", "expected"),
    [pytest.param(401, Denied), pytest.param(403, Denied), pytest.param(500, Unavailable)],
)
async def test_refusals_quote_nothing(
    generator: Generator[Any],
    document: Document,
    field: str,
    status: int,
    expected: type[Exception],
) -> None:
    async def refuse(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"message": CANARY}, status=status)

    async with served(all_to(refuse)) as url:
        with pytest.raises(expected) as caught:
            await made(generator, {**document, field: url})

    assert CANARY not in f"{caught.value!r} {caught.value}"
