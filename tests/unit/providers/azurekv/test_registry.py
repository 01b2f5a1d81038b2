"""The generator of logins for container registries at Azure, with every login; the registry speaks TLS."""

from pathlib import Path
from typing import Any

import pytest

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.azurekv.acr import (
    ACR,
    AcrAccessTokenSpec,
    AcrAuth,
    AcrManagedIdentity,
    AcrServicePrincipal,
    AcrServicePrincipalRef,
    AcrWorkloadIdentity,
)
from syncret.providers.azurekv.registry import registry_token
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed, Unavailable
from syncret.providers.kit.http import Http, Tls
from syncret.providers.values import SecretBytes
from tests.support.opened import NETWORK, NOW, Clock, Given, context
from tests.support.servers.azure.directory import TENANT, Trust
from tests.support.servers.azure.server import Azure
from tests.support.servers.google.logins import Issuer
from tests.unit.providers.azurekv.stores import key

ISSUER = Issuer("https://cluster.example", frozenset())
PRINCIPAL = AcrAuth(
    service_principal=AcrServicePrincipal(
        secret_ref=AcrServicePrincipalRef(client_id=key("id"), client_secret=key("secret"))
    )
)
WORKLOAD = AcrAuth(
    workload_identity=AcrWorkloadIdentity(service_account_ref=ServiceAccountSelector(name="app"))
)
POD = AcrAuth(workload_identity=AcrWorkloadIdentity())
SCOPE = "repository:app:pull"


async def given_by(cloud: Azure, given: Given, clock: Clock, auth: AcrAuth, **spec: Any) -> str:  # noqa: ANN401  # fields
    """The password that one gets who logs in like this."""
    fields: dict[str, Any] = {"registry": cloud.host, "tenant_id": TENANT, **spec}
    async with Http(cloud.secure_url, tls=Tls(ca=cloud.authority.pem), now=clock, network=NETWORK) as http:
        token = await registry_token(AcrAccessTokenSpec(auth=auth, **fields), http, context(given, now=clock))
    return token.raw.decode()


async def test_refresh_and_access_tokens(cloud: Azure, given: Given, clock: Clock) -> None:
    refresh = await given_by(cloud, given, clock, PRINCIPAL)
    access = await given_by(cloud, given, clock, PRINCIPAL, scope=SCOPE)

    assert cloud.registry.refresh_tokens[refresh] == cloud.directory.logins[0]
    assert cloud.registry.access_tokens == {access: SCOPE}
    assert cloud.registry.asked[0]["tenant"] == TENANT
    assert {fields["service"] for fields in cloud.registry.asked} == {cloud.host}


async def test_managed_identities(cloud: Azure, clock: Clock) -> None:
    path = "/subscriptions/1/userAssignedIdentities/web"
    cloud.machine.own, cloud.machine.others[path] = cloud.member("machine"), cloud.member("web")
    for identity in ("", path, cloud.machine.others[path].client_id):
        auth = AcrAuth(managed_identity=AcrManagedIdentity(identity_id=identity))
        assert await given_by(cloud, Given(), clock, auth, tenant_id="")

    web = cloud.machine.others[path].client_id
    assert list(cloud.registry.refresh_tokens.values()) == [cloud.machine.own.client_id, web, web]


async def test_workloads(cloud: Azure, clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = cloud.member("workload")
    made.trusts.append(Trust(ISSUER, "system:serviceaccount:default:app"))
    text = ISSUER.token("system:serviceaccount:default:app", "api://AzureADTokenExchange", now=NOW)
    given = Given(tokens={"app": IssuedToken(SecretBytes(text.encode()), NOW + 600)})
    for missing in ("client-id", "tenant-id"):
        with pytest.raises(Malformed, match=f"missing annotation: azure.workload.identity/{missing}"):
            await given_by(cloud, given, clock, WORKLOAD)
        given.annotations["app"] = {"azure.workload.identity/client-id": made.client_id}
    given.annotations["app"] = {**given.annotations["app"], "azure.workload.identity/tenant-id": TENANT}
    assert await given_by(cloud, given, clock, WORKLOAD)

    (tmp_path / "token").write_text(text)
    monkeypatch.setenv("AZURE_CLIENT_ID", made.client_id)
    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    monkeypatch.setenv("AZURE_FEDERATED_TOKEN_FILE", str(tmp_path / "token"))
    assert await given_by(cloud, Given(), clock, POD)
    assert list(cloud.registry.refresh_tokens.values()) == [made.client_id] * 2


@pytest.mark.parametrize(
    ("auth", "spec", "message"),
    [
        pytest.param(AcrAuth(), {}, "auth names no way to log in", id="nothing"),
        pytest.param(PRINCIPAL, {"tenant_id": ""}, "needs tenantId", id="no tenant"),
        pytest.param(
            AcrAuth(service_principal=AcrServicePrincipal(secret_ref=AcrServicePrincipalRef())),
            {},
            "needs tenantId, clientId and clientSecret",
            id="no selectors",
        ),
        pytest.param(
            PRINCIPAL, {"environment_type": "AzureStackCloud"}, "AzureStackCloud", id="an unknown cloud"
        ),
    ],
)
async def test_incomplete_specs(
    cloud: Azure, given: Given, clock: Clock, auth: AcrAuth, spec: dict[str, Any], message: str
) -> None:
    with pytest.raises(Malformed, match=message):
        await given_by(cloud, given, clock, auth, **spec)


async def test_a_registry_that_refuses(cloud: Azure, given: Given, clock: Clock) -> None:
    cloud.registry.members.clear()
    with pytest.raises(Denied, match=r"it refuses \(HTTP 403\)") as caught:
        await given_by(cloud, given, clock, PRINCIPAL)

    assert "AcrPull" in caught.value.hint


async def test_a_registry_with_an_untrusted_certificate(cloud: Azure, given: Given, clock: Clock) -> None:
    assert ACR.generate is not None
    spec = AcrAccessTokenSpec(auth=PRINCIPAL, registry=cloud.host, tenant_id=TENANT)
    with pytest.raises((Malformed, Unavailable), match="certificate"):
        await ACR.generate(spec, context(given, now=clock))
