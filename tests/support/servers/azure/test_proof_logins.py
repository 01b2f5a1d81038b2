"""Azure's client of everything about tokens works on the server. Nothing of syncret takes part."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.jwts import private_key
from tests.support.servers.azure.directory import TENANT, Trust
from tests.support.servers.azure.files import certificate, pem, pfx
from tests.support.servers.azure.machine import HEADER
from tests.support.servers.azure.sdk import (
    Sdk,
    credential,
    exceptions,
    identity,
    reached,
    refused,
    secrets,
    vault,
)
from tests.support.servers.azure.server import Azure
from tests.support.servers.google.logins import Issuer

SCOPE = "https://vault.azure.net/.default"
ISSUER = Issuer("https://cluster.example", frozenset())


def denied(number: str, call: Callable[[], Any]) -> None:
    with pytest.raises(exceptions.ClientAuthenticationError, match=f"AADSTS{number}"):
        call()


async def test_client_secrets(cloud: Azure) -> None:
    def script() -> None:
        known = credential(cloud)
        assert vault(cloud, secrets, known).set_secret("db", "one").value == "one"
        client = cloud.member("sdk", secret="s3cret-4f1c").client_id
        denied("7000215", lambda: credential(cloud, client_id=client, client_secret="x").get_token(SCOPE))
        denied("700016", lambda: credential(cloud, client_id="no-such").get_token(SCOPE))
        denied("500011", lambda: known.get_token("https://other.example/.default"))
        # Whether there is such a tenant, the client asks before its first login.
        with pytest.raises((ValueError, exceptions.ClientAuthenticationError)):
            credential(cloud, tenant="11111111-1111-4111-8111-111111111111").get_token(SCOPE)

    await asyncio.to_thread(script)


@pytest.mark.parametrize("form", [pytest.param(pem, id="PEM"), pytest.param(pfx, id="PKCS12")])
async def test_client_certificates(cloud: Azure, form: Callable[..., bytes]) -> None:
    def script() -> None:
        known, other = certificate("known"), certificate("known")
        application = cloud.member("sdk")
        application.certificates.append(known)

        def by(data: bytes) -> Sdk:
            client = application.client_id
            return identity.CertificateCredential(TENANT, client, certificate_data=data, **reached(cloud))

        assert vault(cloud, secrets, by(form(known, "known"))).set_secret("db", "one").value == "one"
        denied("700027", lambda: by(form(other, "known")).get_token(SCOPE))
        forged = pem(known, "another")
        with pytest.raises((ValueError, exceptions.ClientAuthenticationError)):
            by(forged).get_token(SCOPE)

    await asyncio.to_thread(script)


async def test_tokens_of_another_issuer(cloud: Azure) -> None:
    def script() -> None:
        application = cloud.member("sdk")
        application.trusts.append(Trust(ISSUER, "system:serviceaccount:apps:web"))
        audience = "api://AzureADTokenExchange"

        def by(*audiences: str, subject: str = "web", key: str = "issuer") -> Sdk:
            issuer = Issuer(ISSUER.url, frozenset(), key)
            name = f"system:serviceaccount:apps:{subject}"

            def assertion() -> str:
                return issuer.token(name, *audiences, now=cloud.directory.now())

            client = application.client_id
            return identity.ClientAssertionCredential(TENANT, client, assertion, **reached(cloud))

        assert vault(cloud, secrets, by(audience)).set_secret("db", "one").value == "one"
        assert by("other", audience).get_token(SCOPE).token
        denied("70021", lambda: by("other").get_token(SCOPE))
        denied("70021", lambda: by(audience, subject="other").get_token(SCOPE))
        denied("700027", lambda: by(audience, key="forged").get_token(SCOPE))

    private_key("issuer")
    await asyncio.to_thread(script)


async def test_an_expired_token_is_refused(cloud: Azure) -> None:
    def script() -> None:
        client = vault(cloud, secrets)
        client.set_secret("db", "one")
        cloud.directory.expire_tokens()
        with refused(401, "Unauthorized"):
            client.get_secret("db")

    await asyncio.to_thread(script)


async def test_managed_identities(cloud: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", cloud.url)
    path = "/subscriptions/1/resourcegroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/web"

    def script() -> None:
        cloud.machine.own = cloud.member("machine")
        cloud.machine.others[path] = cloud.member("web")
        found = identity.ManagedIdentityCredential(retry_total=0)
        assert vault(cloud, secrets, found).set_secret("db", "one").value == "one"
        for wanted in (
            {"client_id": cloud.machine.others[path].client_id},
            {"identity_config": {"resource_id": path}},
        ):
            assert identity.ManagedIdentityCredential(retry_total=0, **wanted).get_token(SCOPE).token
        assert cloud.directory.logins == [
            cloud.machine.own.client_id,
            cloud.machine.others[path].client_id,
            cloud.machine.others[path].client_id,
        ]
        with pytest.raises(exceptions.ClientAuthenticationError):
            identity.ManagedIdentityCredential(client_id="no-such", retry_total=0).get_token(SCOPE)

    await asyncio.to_thread(script)


async def test_managed_identities_of_app_services(cloud: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{cloud.url}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", HEADER)

    def script() -> None:
        cloud.machine.own = cloud.member("machine")
        assert identity.ManagedIdentityCredential(retry_total=0).get_token(SCOPE).token
        assert cloud.directory.logins == [cloud.machine.own.client_id]

    await asyncio.to_thread(script)
