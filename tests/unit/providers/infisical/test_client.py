"""Logins, keys and what is hidden, on a server written from Infisical's published reference."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from syncret.config.fields import Json
from syncret.providers.errors import Denied, Malformed
from syncret.providers.infisical import PROVIDER, published_rate
from syncret.providers.infisical.client import InfisicalClient
from syncret.providers.infisical.connection import open_store
from syncret.providers.values import RemoteKey, SecretBytes
from tests.support.opened import Given, context
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.rest import running
from tests.support.specs import spec_of


@pytest.fixture
async def server() -> AsyncIterator[Infisical]:
    async with running(Infisical()) as server:
        server.secrets = {("/", "TOP"): "0", ("/web", "A"): "1", ("/web/deep", "A"): "2"}
        yield server


def selected(key: str) -> dict[str, Json]:
    return {"name": "login", "key": key}


def opened(
    server: Infisical, auth: dict[str, Json], *, environment: str = "prod", **secrets: bytes
) -> AbstractAsyncContextManager[InfisicalClient]:
    scope = {"projectSlug": "shop", "environmentSlug": environment, "secretsPath": "/web"}
    spec = spec_of(PROVIDER, {"hostAPI": f"{server.url}/api", "auth": auth, "secretsScope": scope})
    return open_store(spec, context(Given(secrets={"login": {"id": b"i-1", **secrets}})))


TOKEN: dict[str, Json] = {"tokenAuthCredentials": {"accessToken": selected("token")}}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("A", b"1", id="of the store's folder"),
        pytest.param("deep/A", b"2", id="below it"),
        pytest.param("/web/deep/A", b"2", id="from the root"),
        pytest.param("/TOP", b"0", id="in the root"),
    ],
)
async def test_keys(server: Infisical, key: str, value: bytes) -> None:
    async with opened(server, TOKEN, token=server.token.encode()) as client:
        assert await client.fetch([RemoteKey(key)]) == {RemoteKey(key): SecretBytes(value)}


@pytest.mark.parametrize(
    ("auth", "method", "proof"),
    [
        pytest.param(
            {"jwtAuthCredentials": {"identityId": selected("id"), "jwt": selected("jwt")}},
            "jwt-auth",
            {"identityId": "i-1", "jwt": "j-1"},
            id="a JWT",
        ),
        pytest.param(
            {
                "ldapAuthCredentials": {
                    "identityId": selected("id"),
                    "ldapUsername": selected("user"),
                    "ldapPassword": selected("password"),
                }
            },
            "ldap-auth",
            {"identityId": "i-1", "username": "ada", "password": "p w "},
            id="LDAP",
        ),
        pytest.param(
            {
                "kubernetesAuthCredentials": {
                    "identityId": selected("id"),
                    "serviceAccountTokenPath": selected("path"),
                }
            },
            "kubernetes-auth",
            {"identityId": "i-1", "jwt": "mounted"},
            id="a ServiceAccount's token in a file",
        ),
    ],
)
async def test_logins(
    server: Infisical, tmp_path: Path, auth: dict[str, Json], method: str, proof: dict[str, str]
) -> None:
    server.proofs[method] = proof
    (tmp_path / "token").write_text("mounted\n")
    path = str(tmp_path / "token").encode()
    async with opened(server, auth, jwt=b"j-1\n", user=b"ada", password=b"p w ", path=path) as client:
        found = await client.fetch([RemoteKey("A")])

    assert found == {RemoteKey("A"): SecretBytes(b"1")}
    assert (server.logins, server.revoked) == ([method], [server.token])


async def test_a_login_that_is_not_supported(server: Infisical) -> None:
    with pytest.raises(Malformed, match="authentication method not found"):
        async with opened(server, {"awsAuthCredentials": {"identityId": selected("id")}}):
            pass


async def test_a_value_that_is_hidden_is_no_value(server: Infisical) -> None:
    server.hidden.add("A")
    async with opened(server, TOKEN, token=server.token.encode()) as client:
        [found] = (await client.fetch([RemoteKey("A")])).values()

    assert isinstance(found, Denied)


async def test_another_environment_is_no_absence(server: Infisical) -> None:
    async with opened(server, TOKEN, environment="dev", token=server.token.encode()) as client:
        [found] = (await client.fetch([RemoteKey("A")])).values()

    assert isinstance(found, Malformed)


@pytest.mark.parametrize(
    ("host", "rate"),
    [
        pytest.param("https://app.infisical.com/api", 2.0, id="cloud"),
        pytest.param("https://eu.infisical.com/api", 2.0, id="cloud in Europe"),
        pytest.param("https://infisical.com.example/api", None, id="another"),
    ],
)
def test_the_published_limit_is_the_cloud_s(host: str, rate: float | None) -> None:
    scope = {"projectSlug": "shop", "environmentSlug": "prod"}
    spec = spec_of(PROVIDER, {"hostAPI": host, "auth": TOKEN, "secretsScope": scope})

    assert published_rate(spec) == rate
