"""Logins, shared calls and refusals, on the server that IBM's SDK proves."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.ibm.client import IbmClient
from syncret.providers.ibm.connection import open_store
from syncret.providers.ibm.spec import IbmAuth, IbmContainerAuth, IbmSecretRef, IbmSpec
from syncret.providers.values import RemoteKey, RemoteRef
from syncret.providers.work import Work
from tests.support.opened import Clock, Given, context
from tests.support.served import all_to, served
from tests.support.servers.ibm.server import Ibm, ibm

CANARY = "canary-5d2e"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cloud(clock: Clock) -> AsyncIterator[Ibm]:
    async with ibm(clock) as cloud:
        yield cloud


def by_key(cloud: Ibm, path: str = "") -> IbmAuth:
    selector = SecretKeySelector(name="login", key="key")
    return IbmAuth(secret_ref=IbmSecretRef(secret_api_key_secret_ref=selector, iam_endpoint=cloud.url + path))


@asynccontextmanager
async def opened(
    cloud: Ibm, clock: Clock, *, auth: IbmAuth | None = None, key: str = "", url: str = ""
) -> AsyncGenerator[IbmClient, None]:
    given = Given(secrets={"login": {"key": (key or cloud.service("syncret")).encode()}})
    spec = IbmSpec(service_url=url or cloud.url, auth=auth or by_key(cloud))
    async with open_store(spec, context(given, now=clock)) as client:
        yield client


async def read(client: IbmClient, key: str, name: str = "") -> bytes | None:
    ref = RemoteRef(key, name)
    wanted = client.remote_key(ref)
    payload = (await client.fetch([wanted]))[wanted]
    if isinstance(payload, SyncError):
        raise payload
    found = client.value(payload, ref, Work())
    return None if found is None else found.raw


# -- logins
@pytest.mark.parametrize("path", ["", "/", "/identity/token"])
async def test_an_api_key(cloud: Ibm, clock: Clock, path: str) -> None:
    secret = cloud.manager.seed("arbitrary", "db", payload="one")
    key = f"  {cloud.service('syncret')}\n"
    async with opened(cloud, clock, auth=by_key(cloud, path), key=key) as client:
        values = await asyncio.gather(*(read(client, secret.id) for _ in range(20)))

    assert values == [b"one"] * 20
    assert cloud.identity.logins == ["iam-ServiceId-syncret"]


async def test_a_login_is_renewed_before_its_end_and_when_it_is_refused(cloud: Ibm, clock: Clock) -> None:
    secret = cloud.manager.seed("arbitrary", "db", payload="one")
    async with opened(cloud, clock) as client:
        clock.time += 3600 - 30
        assert await read(client, secret.id) == b"one"
        assert len(cloud.identity.logins) == 2
        refused = iter([web.json_response({"errors": [{"code": "unauthorized"}]}, status=401)])
        with cloud.failing(lambda request: next(refused, None) if request.path.startswith("/api") else None):
            assert await read(client, secret.id) == b"one"

    assert len(cloud.identity.logins) == 3


async def test_a_trusted_profile(cloud: Ibm, clock: Clock, tmp_path: Path) -> None:
    profile = cloud.profile("reader", ("c1", "team", "app"))
    secret = cloud.manager.seed("arbitrary", "db", payload="one")
    token = tmp_path / "token"
    token.write_text(cloud.identity.compute_token("c1", "team", "app", seconds=600) + "\n")
    container = IbmContainerAuth(profile="reader", token_location=str(token), iam_endpoint=cloud.url)
    async with opened(cloud, clock, auth=IbmAuth(container_auth=container)) as client:
        assert await read(client, secret.id) == b"one"
        clock.time += 3600
        token.write_text(cloud.identity.compute_token("c1", "team", "app", seconds=600))
        assert await read(client, secret.id) == b"one", "the token in the file is read anew"

    assert cloud.identity.logins == [f"iam-{profile.id}"] * 2


@pytest.mark.parametrize(
    ("cluster", "name", "profile", "audience"),
    [
        pytest.param("c1", "other", "reader", "iam", id="another ServiceAccount"),
        pytest.param("c2", "app", "reader", "iam", id="another cluster"),
        pytest.param("c1", "app", "writer", "iam", id="another profile"),
        pytest.param("c1", "app", "reader", "sts", id="another audience"),
    ],
)
async def test_a_profile_that_is_refused(
    cloud: Ibm, clock: Clock, tmp_path: Path, cluster: str, name: str, profile: str, audience: str
) -> None:
    cloud.profile("reader", ("c1", "team", "app"))
    token = cloud.identity.compute_token(cluster, "team", name, audience=audience)
    (tmp_path / "token").write_text(token)
    container = IbmContainerAuth(
        profile=profile, token_location=str(tmp_path / "token"), iam_endpoint=cloud.url
    )
    with pytest.raises(Denied, match=r"by containerAuth: the login is refused \(HTTP 400, BXNIM") as caught:
        async with opened(cloud, clock, auth=IbmAuth(container_auth=container)):
            raise AssertionError("it is not let in")
    assert caught.value.hint.startswith("check auth.containerAuth.profile: is it linked to this compute")
    assert token not in f"{caught.value!r} {caught.value.__context__!r}"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("root:x:0:0:root:/root:/bin/sh\n", id="passwd"),
        pytest.param("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n", id="a key"),
        pytest.param("password", id="a password"),
    ],
)
async def test_only_tokens_are_sent(cloud: Ibm, clock: Clock, tmp_path: Path, content: str) -> None:
    (tmp_path / "file").write_text(content)
    container = IbmContainerAuth(
        profile="reader", token_location=str(tmp_path / "file"), iam_endpoint=cloud.url
    )
    with (
        cloud.failing(lambda _request: pytest.fail("the file was sent")),
        pytest.raises(Malformed, match="holds no token") as caught,
    ):
        async with opened(cloud, clock, auth=IbmAuth(container_auth=container)):
            raise AssertionError("it is not let in")
    assert content not in f"{caught.value!r} {caught.value.__context__!r}"


async def test_the_daemons_own_token_is_not_sent(
    cloud: Ibm, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "own"
    token.write_text(cloud.identity.compute_token("c1", "team", "app"))
    (tmp_path / "link").symlink_to(token)
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(token))
    for location in (token, tmp_path / "link"):
        container = IbmContainerAuth(profile="reader", token_location=str(location), iam_endpoint=cloud.url)
        with pytest.raises(Malformed, match="the daemon's own"):
            async with opened(cloud, clock, auth=IbmAuth(container_auth=container)):
                raise AssertionError("it is not let in")


async def test_a_file_that_is_mounted_elsewhere_is_not_sent(cloud: Ibm, clock: Clock) -> None:
    container = IbmContainerAuth(profile="p", token_location="/proc/self/environ", iam_endpoint=cloud.url)
    with (
        cloud.failing(lambda _request: pytest.fail("the file was sent")),
        pytest.raises(Malformed, match="/proc/self/environ is outside of the folders") as caught,
    ):
        async with opened(cloud, clock, auth=IbmAuth(container_auth=container)):
            raise AssertionError("it is not let in")
    assert "manifestFiles" in caught.value.hint


async def test_a_token_file_that_is_not_there(cloud: Ibm, clock: Clock, tmp_path: Path) -> None:
    container = IbmContainerAuth(profile="p", token_location=str(tmp_path / "no"), iam_endpoint=cloud.url)
    with pytest.raises(Malformed, match=r"the compute resource token file .* cannot be read"):
        async with opened(cloud, clock, auth=IbmAuth(container_auth=container)):
            raise AssertionError("there is no token")


@pytest.mark.parametrize(
    ("key", "error", "expected"),
    [
        pytest.param(
            CANARY,
            Denied,
            "logging in to IBM Cloud IAM by secretRef: the login is refused (HTTP 400, BXNIM0415E)",
            id="unknown",
        ),
        pytest.param("\n", Malformed, 'key "key" of Secret "login" is empty', id="empty"),
    ],
)
async def test_an_api_key_that_is_refused(
    cloud: Ibm, clock: Clock, key: str, error: type[SyncError], expected: str
) -> None:
    with pytest.raises(error) as caught:
        async with opened(cloud, clock, key=key):
            raise AssertionError("it is not let in")
    assert expected in str(caught.value)
    assert error is Malformed or "check auth.secretRef.secretApiKeySecretRef: " in caught.value.hint
    assert CANARY not in f"{caught.value!r} {caught.value.__context__!r}"


async def test_the_text_of_iam_is_not_quoted(cloud: Ibm, clock: Clock) -> None:
    def refusal(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"errorCode": CANARY, "errorMessage": CANARY}, status=400)

    with cloud.failing(refusal), pytest.raises(Denied, match=r"refused \(HTTP 400\)") as caught:
        async with opened(cloud, clock):
            raise AssertionError("it is not let in")
    assert CANARY not in f"{caught.value!r} {caught.value.hint} {caught.value.__context__!r}"


# -- calls
async def test_one_secret_is_one_call(cloud: Ibm, clock: Clock) -> None:
    secret = cloud.manager.seed("username_password", "db", username="ada", password="pw")
    async with opened(cloud, clock) as client:
        refs = [
            RemoteRef(f"username_password/{secret.id}", "username"),
            RemoteRef(f"default/username_password/{secret.id}", "password", version="previous"),
            RemoteRef(secret.id, metadata=True),
        ]
        assert {client.remote_key(ref) for ref in refs} == {RemoteKey(secret.id)}
        assert client.remote_key(RemoteRef("a/kv/b", "x", "1")) == RemoteKey("a/kv/b")
        assert client.remote_key(RemoteRef("no group", "x", "1")) == RemoteKey("no group")


@pytest.mark.parametrize(
    ("kind", "name", "fields"),
    [
        pytest.param("arbitrary", "", {"payload": "x"}, id="arbitrary"),
        pytest.param("username_password", "password", {"username": "a"}, id="username_password"),
        pytest.param("iam_credentials", "", {"ttl": "1h", "reuse_api_key": True}, id="iam_credentials"),
        pytest.param(
            "service_credentials",
            "",
            {"source_service": {"instance": {"crn": "c"}}},
            id="service_credentials",
        ),
        pytest.param(
            "public_cert",
            "private_key",
            {"ca": "letsencrypt", "dns": "cis", "common_name": "a.b"},
            id="public",
        ),
        pytest.param(
            "private_cert",
            "certificate",
            {"certificate_template": "template", "common_name": "a.b"},
            id="private",
        ),
        pytest.param("kv", "a.b", {"data": {"a": {"b": "c"}}}, id="kv"),
        pytest.param("custom_credentials", "token", {"configuration": "job"}, id="custom_credentials"),
    ],
)
async def test_every_type_by_name_and_by_id(
    cloud: Ibm, clock: Clock, kind: str, name: str, fields: dict[str, object]
) -> None:
    secret = cloud.manager.seed(kind, "db", cloud.manager.group("team").id, **fields)
    async with opened(cloud, clock) as client:
        by_id, by_name = f"{kind}/{secret.id}", f"team/{kind}/db"

        assert await read(client, by_id, name) == await read(client, by_name, name)
        assert await read(client, by_id, name)


async def test_a_key_that_makes_new_ones(cloud: Ibm, clock: Clock) -> None:
    """Each read of such a secret makes an API key: one call, and no more, serves all who ask."""
    secret = cloud.manager.seed("iam_credentials", "dyn", ttl="1h", reuse_api_key=False)
    async with opened(cloud, clock) as client:
        key = f"iam_credentials/{secret.id}"
        assert await read(client, key) != await read(client, key)


async def test_what_is_in_the_path_stays_there(cloud: Ibm, clock: Clock) -> None:
    async with opened(cloud, clock) as client:
        for key in ("team/kv/a?b#c", "te%2Fam/kv/a", "team/kv/ä b"):
            with pytest.raises(Malformed, match="does not exist"):
                await read(client, key)
        for key in ("../kv/a", "team/kv/.."):
            with pytest.raises(Malformed, match="cannot be part of a path"):
                await read(client, key)


async def test_refusals(cloud: Ibm, clock: Clock) -> None:
    ours = cloud.manager.group("team")
    secret = cloud.manager.seed("arbitrary", "db", payload=CANARY)
    absent = "d5deb37a-7883-4fe2-a5e7-3c15420adc76"
    async with opened(cloud, clock, key=cloud.service("few", [ours.id])) as client:
        with pytest.raises(Denied, match="permission denied") as denied:
            await read(client, secret.id)
        with pytest.raises(Malformed, match=f"secret {absent} does not exist") as by_id:
            await read(client, absent)
        with pytest.raises(Malformed, match="secret no does not exist") as by_name:
            await read(client, "team/kv/no")

    assert "SecretsReader" in denied.value.hint
    assert by_id.value.hint == "check its id"
    assert by_name.value.hint == "check the secret group team, the type kv and the name"


@pytest.mark.parametrize(
    ("status", "body", "kind", "expected"),
    [
        pytest.param(200, f"<html>{CANARY}", "text/html", "the answer is HTML, not JSON", id="HTML"),
        pytest.param(200, f"\x00{CANARY}", "application/json", "the answer is not JSON", id="binary"),
        pytest.param(200, f'["{CANARY}"]', "application/json", "JSON of another shape", id="another API"),
        pytest.param(
            200,
            '{"secret_type": "kv", "data": ' + '{"a":' * 300 + "1" + "}" * 301,
            "application/json",
            "nested too deeply",
            id="deep",
        ),
        pytest.param(404, f"<html>{CANARY}", "text/html", "not from Secrets Manager", id="a missing page"),
        pytest.param(404, f'{{"x":"{CANARY}"}}', "application/json", "not from Secrets Manager", id="404"),
        pytest.param(400, f"{CANARY}", "text/plain", "not from Secrets Manager", id="400"),
        pytest.param(
            400,
            f'{{"errors":[{{"code":"{CANARY}"}}]}}',
            "application/json",
            "finds the request invalid",
            id="invalid",
        ),
        pytest.param(403, CANARY, "text/plain", "permission denied", id="403"),
    ],
)
async def test_answers(cloud: Ibm, clock: Clock, status: int, body: str, kind: str, expected: str) -> None:
    def answer(request: web.Request) -> web.StreamResponse | None:
        return web.Response(status=status, text=body, content_type=kind) if "/api/" in request.path else None

    async with opened(cloud, clock) as client:
        with cloud.failing(answer), pytest.raises((Denied, Malformed), match=expected) as caught:
            await read(client, "team/kv/a")
    assert CANARY not in f"{caught.value!r} {caught.value.hint} {caught.value.__context__!r}"


async def test_large_values(cloud: Ibm, clock: Clock) -> None:
    secret = cloud.manager.seed("arbitrary", "db", payload="x")
    async with opened(cloud, clock) as client:
        secret.current.data["payload"] = "x" * 5 * 2**20
        assert len(await read(client, secret.id) or b"") == 5 * 2**20
        secret.current.data["payload"] = CANARY * 2**20
        with pytest.raises(Malformed, match="larger than"):
            await read(client, secret.id)


async def test_an_instance_that_is_not_there(cloud: Ibm, clock: Clock) -> None:
    async def page(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=404, text="<html>")

    async with served(all_to(page)) as url, opened(cloud, clock, url=url) as client:
        with pytest.raises(Malformed, match="not from Secrets Manager") as caught:
            await read(client, "team/kv/a")
    assert "does serviceUrl lead to" in caught.value.hint
    async with opened(cloud, clock, url="http://127.0.0.1:1") as client:
        with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1"):
            await read(client, "team/kv/a")
