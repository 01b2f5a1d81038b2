"""Stores that log in with an identity at a cloud."""

from collections.abc import Mapping

from syncret.config.fields import Json
from syncret.providers.infisical import PROVIDER
from syncret.providers.infisical.connection import open_store
from syncret.providers.infisical.spec import InfisicalSpec
from syncret.providers.kit.ambient.door import Door
from syncret.providers.values import RemoteKey, SecretBytes
from tests.support.opened import Given, context
from tests.support.servers.infisical.server import Infisical
from tests.support.specs import spec_of


def auth_of(method: str, **more: str) -> dict[str, Json]:
    """A login whose parts are in the Secret `login`, under these keys."""
    return {
        method: {name: {"name": "login", "key": key} for name, key in {"identityId": "id", **more}.items()}
    }


AWS = auth_of("awsAuthCredentials")
AZURE = auth_of("azureAuthCredentials")
GOOGLE = auth_of("gcpIdTokenAuthCredentials")
GOOGLE_KEY = auth_of("gcpIamAuthCredentials", serviceAccountKeyFilePath="path")
PARTS = {
    "userId": "user",
    "tenancyId": "tenancy",
    "region": "region",
    "fingerprint": "fingerprint",
    "privateKey": "pem",
}
ORACLE = auth_of("ociAuthCredentials", **PARTS)


def store(auth: Mapping[str, Json], url: str = "https://infisical.example") -> InfisicalSpec:
    scope = {"projectSlug": "shop", "environmentSlug": "prod"}
    return spec_of(PROVIDER, {"hostAPI": url, "auth": auth, "secretsScope": scope})


async def reads(
    server: Infisical,
    auth: Mapping[str, Json],
    secrets: Mapping[str, bytes] | None = None,
    *,
    door: Door | None = None,
) -> None:
    """Log in, and read a secret. Raises SyncError."""
    given = Given(secrets={"login": {"id": b"i-1\n", **(secrets or {})}})
    async with open_store(store(auth, server.url), context(given, door=door)) as client:
        assert await client.fetch([RemoteKey("A")]) == {RemoteKey("A"): SecretBytes(b"1")}
