"""GitHub passes the part of the suite that writes, on a server written from its published reference."""

from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.errors import Malformed, Throttled
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import item, prober, secret, writer
from syncret.providers.values import SecretBytes
from tests.suites.providers.rest_harness import RestHarness
from tests.support.servers.github.server import Github
from tests.support.servers.rest import Refused, running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

WRITE_ONLY = "GitHub shows the values of secrets to nobody"
NO_PARTS = "a secret in GitHub is one text, and a property is ignored"
ORGANIZATION = "/orgs/acme/actions"


class GithubHarness(RestHarness[Github]):
    provider = "github"
    lacks: Mapping[Ability, str] = {
        Ability.READ: WRITE_ONLY,
        Ability.FIND_NAME: WRITE_ONLY,
        Ability.FIND_PATH: WRITE_ONLY,
        Ability.FIND_TAGS: WRITE_ONLY,
        Ability.COMPARE: "GitHub shows no value, and a secret has no place for a digest of it",
        Ability.PUSH_PROPERTY: NO_PARTS,
        Ability.DELETE_PROPERTY: NO_PARTS,
        Ability.OWN: "secrets in GitHub have no place for a mark",
    }
    place = ORGANIZATION
    options: Mapping[str, str] = {}

    def __init__(self, server: Github) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"key": server.key_file()}

    def spec(self) -> Document:
        app = {"appID": 123456, "installationID": 7891011, "organization": "acme"}
        auth = {"privateKey": {"name": "login", "key": "key"}}
        return {"url": f"{self.server.url}/", "auth": auth, **app, **self.options}

    def key(self, name: str) -> str:
        return name.replace("-", "_").replace("/", "_")

    async def seed(self, *entries: Entry) -> None:
        raise AssertionError(f"nothing is read: {entries}")

    async def stored(self, key: str) -> bytes | None:
        return self.server.value_of(self.place, key)

    async def rotate(self) -> None:
        self.server.app_key, self.server.token = "github-2", "canary-token-2"
        self.given.secrets["login"] = {"key": self.server.key_file()}


class TestGithub(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Github()) as server:
            yield GithubHarness(server)


class InRepository(GithubHarness):
    options: Mapping[str, str] = {"repository": "web"}
    place = "/repos/acme/web/actions"


class InEnvironment(GithubHarness):
    options: Mapping[str, str] = {"repository": "web", "environment": "prod/eu"}
    place = "/repos/acme/web/environments/prod/eu"


class Private(GithubHarness):
    options: Mapping[str, str] = {"orgSecretVisibility": "private"}


class Elsewhere(GithubHarness):
    options: Mapping[str, str] = {"organization": "other"}


@pytest.mark.parametrize("there", [InRepository, InEnvironment])
async def test_a_repository_and_an_environment(there: type[GithubHarness]) -> None:
    async with running(Github()) as server, there(server).open() as client:
        await writer(client).push(item("token", b"t"))
        [held] = server.secrets.values()
        value = server.value_of(there.place, "TOKEN")
        await writer(client).delete(RemoteTarget("token"))

    assert (value, "visibility" in held, server.secrets) == (b"t", False, {})
    assert any("prod%2Feu" in call for call in server.calls) == (there is InEnvironment)


async def test_who_sees_a_secret_of_an_organization() -> None:
    chosen = list(range(150))
    async with running(Github()) as server:
        async with GithubHarness(server).open() as client:
            await writer(client).push(item("new", b"1"))
            held = {"visibility": "selected", "selected_repository_ids": chosen}
            server.secrets[ORGANIZATION, "OLD"] = dict(held)
            await writer(client).push(item("OLD", b"2"))
        kept = server.secrets[ORGANIZATION, "OLD"]
        async with Private(server).open() as client:
            await writer(client).push(item("OLD", b"3"))

    assert server.secrets[ORGANIZATION, "NEW"]["visibility"] == "all"
    assert {name: kept[name] for name in held} == held
    assert server.secrets[ORGANIZATION, "OLD"]["visibility"] == "private"


async def test_a_whole_secret() -> None:
    async with running(Github()) as server, GithubHarness(server).open() as client:
        pushed = PushItem("ALL", "", SecretBytes(b"{}"), source=secret({"a": b"1"}))
        await writer(client).push(pushed)

    encoded = b64encode(b"1").decode()
    assert server.value_of(ORGANIZATION, "ALL") == f'{{"a":"{encoded}"}}'.encode()


async def test_what_the_app_does_not_see_is_not_absent() -> None:
    async with running(Github()) as server, Elsewhere(server).open() as client:
        for call in (
            writer(client).push(item("a", b"1")),
            writer(client).delete(RemoteTarget("a")),
            writer(client).exists(RemoteTarget("a")),
            prober(client).probe(),
        ):
            with pytest.raises(Malformed, match="sees no such organization"):
                await call


async def test_what_is_no_name() -> None:
    async with running(Github()) as server, GithubHarness(server).open() as client:
        for name in ("a-b", "1A", "github_token", "../a", "ä", ""):
            with pytest.raises(Malformed, match="cannot be the name of a secret"):
                await writer(client).push(item(name, b"1"))

    assert server.calls == []


@pytest.mark.parametrize(
    ("message", "remaining"),
    [
        pytest.param("rate limit", "0", id="the primary limit"),
        pytest.param("You have exceeded a secondary rate limit.", "4990", id="the secondary limit"),
    ],
)
async def test_too_many_calls_are_no_denial(message: str, remaining: str) -> None:
    async with running(Github()) as server, GithubHarness(server).open() as client:
        refused = Refused(403, {"message": message}, {"x-ratelimit-remaining": remaining})
        with server.failing(lambda _request: refused.response()), pytest.raises(Throttled):
            await writer(client).push(item("a", b"1"))
