"""What an operator reads when IBM's store cannot be used: what is wrong, what to do, and no secret."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.fields import Json
from syncret.daemon.one_pass import SyncResult
from tests.suites.providers.bad_answers import CANARY, binary, huge, missing_page, page
from tests.suites.providers.test_bad_input import TOKEN, message_of, synced
from tests.support.passes import ready
from tests.support.servers.ibm.errors import IbmError
from tests.support.servers.ibm.server import Ibm, ibm

SERVICE = "iam-ServiceId-app"


@pytest.fixture
async def cloud() -> AsyncIterator[Ibm]:
    async with ibm() as cloud:
        cloud.service("app")
        cloud.identity.keys[TOKEN] = SERVICE
        team = cloud.manager.group("team")
        cloud.manager.seed("kv", "db", team.id, data={"b": CANARY})
        cloud.manager.seed("arbitrary", "text", team.id, payload=CANARY)
        yield cloud


async def read(
    cloud: Ibm, folder: Path, key: str = "team/kv/db", *, extract: bool = False, **spec: Json
) -> SyncResult:
    login = {"secretApiKeySecretRef": {"name": "login", "key": "token"}, "iamEndpoint": cloud.url}
    store = {"serviceUrl": cloud.url, "auth": {"secretRef": login}, **spec}
    result = await synced(store, folder, provider="ibm", key=key, extract=extract)
    everything = repr(result.failures) + repr([each for each in result.resources if each["kind"] != "Secret"])
    assert not [token for token in cloud.identity.issued if token in everything]
    return result


def unknown_token(_request: web.Request) -> web.StreamResponse:
    return IbmError("unauthorized", CANARY).response()


def too_many(_request: web.Request) -> web.StreamResponse:
    return IbmError("too_many_requests", CANARY).response()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(None, "key a does not exist in secret team/kv/db", id="no such property"),
        pytest.param(page, "the answer is HTML, not JSON", id="HTML"),
        pytest.param(missing_page, "HTTP 404, but not from Secrets Manager", id="a page that is missing"),
        pytest.param(binary, "the answer is not JSON", id="binary"),
        pytest.param(unknown_token, "the credentials are wrong or expired", id="a token that has expired"),
        pytest.param(too_many, "syncret.dev/requests-per-second", id="throttled"),
        pytest.param(huge, "larger than", id="10 MB"),
    ],
)
async def test_answers(
    cloud: Ibm,
    tmp_path: Path,
    answer: Callable[[web.Request], web.StreamResponse] | None,
    expected: str,
) -> None:
    def fault(request: web.Request) -> web.StreamResponse | None:
        return answer(request) if answer and request.path.startswith("/api/") else None

    with cloud.failing(fault):
        result = await read(cloud, tmp_path)

    assert expected in message_of(result)
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")
    assert ready(result, "SecretStore") == ("True", "Valid")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("team/kv/text", "secret text does not exist", id="another type"),
        pytest.param("crew/kv/db", "check the secret group crew", id="another group"),
        pytest.param("kv/db", "secret group name is missing", id="no group"),
        pytest.param("team/secret/db", "unknown secret type secret", id="no type"),
        pytest.param(
            "team/username_password/text", "secret text does not exist", id="a type without that name"
        ),
    ],
)
async def test_keys(cloud: Ibm, tmp_path: Path, key: str, expected: str) -> None:
    result = await read(cloud, tmp_path, key)

    assert expected in message_of(result)
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


async def test_a_text_where_an_object_is_wanted(cloud: Ibm, tmp_path: Path) -> None:
    cloud.manager.seed("kv", "flat", cloud.manager.groups[1].id, data={"a": CANARY})
    result = await read(cloud, tmp_path, "team/kv/flat", extract=True)

    assert "a property of extract leads to a JSON object" in message_of(result)


async def test_an_identity_that_may_not(cloud: Ibm, tmp_path: Path) -> None:
    cloud.manager.members[SERVICE] = {"default"}
    result = await read(cloud, tmp_path)

    assert "permission denied" in message_of(result)
    assert "SecretsReader" in message_of(result)
    assert ready(result, "SecretStore") == ("True", "Valid")


async def test_a_key_that_is_gone(cloud: Ibm, tmp_path: Path) -> None:
    cloud.identity.keys.clear()
    result = await read(cloud, tmp_path)

    assert "the login is refused (HTTP 400, BXNIM0415E)" in message_of(result, "SecretStore")
    assert ready(result, "SecretStore") == ("False", "InvalidProviderConfig")
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


async def test_a_token_that_is_not_mounted(cloud: Ibm, tmp_path: Path) -> None:
    container = {"profile": "p", "tokenLocation": str(tmp_path / "none"), "iamEndpoint": cloud.url}
    result = await read(cloud, tmp_path, auth={"containerAuth": container})

    assert "the compute resource token file" in message_of(result, "SecretStore")
    assert ready(result, "SecretStore") == ("False", "InvalidProviderConfig")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("http://no-such-host.invalid", "check the host", id="no such host"),
        pytest.param("http://127.0.0.1:1", "127.0.0.1:1", id="no server listens"),
        pytest.param("secrets.example", "write it with https://", id="no scheme"),
    ],
)
async def test_addresses(cloud: Ibm, tmp_path: Path, url: str, expected: str) -> None:
    result = await read(cloud, tmp_path, serviceUrl=url)

    assert expected in message_of(result) + message_of(result, "SecretStore")
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")
