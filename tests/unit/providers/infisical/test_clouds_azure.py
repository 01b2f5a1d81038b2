"""The daemon's own identity at Azure: the server verifies an access token."""

from pathlib import Path

import pytest

from syncret.providers.errors import Denied, Malformed
from tests.support.opened import NOW
from tests.support.servers.azure.directory import TENANT, Trust
from tests.support.servers.azure.server import Azure
from tests.support.servers.google.logins import Issuer
from tests.support.servers.infisical.server import Infisical
from tests.unit.providers.infisical.stores import AZURE, auth_of, reads

WITH_RESOURCE = auth_of("azureAuthCredentials", resource="resource")


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        pytest.param("", "https://management.azure.com/", id="the usual one"),
        pytest.param("api://shop\n", "api://shop", id="another"),
    ],
)
async def test_the_managed_identity_of_the_machine(
    server: Infisical, cloud: Azure, text: str, resource: str
) -> None:
    cloud.machine.own = cloud.directory.register("machine")
    server.clouds.client, server.clouds.resource = cloud.machine.own.client_id, resource
    await reads(server, WITH_RESOURCE if text else AZURE, {"resource": text.encode()})

    assert server.logins == ["azure-auth"]


async def test_one_of_several_identities_of_the_machine(server: Infisical, cloud: Azure) -> None:
    cloud.machine.own = cloud.directory.register("machine")
    other = cloud.machine.others["/subscriptions/s/other"] = cloud.directory.register("other")
    server.clouds.client = other.client_id
    resource = f"https://management.azure.com/&client_id={other.client_id}"
    await reads(server, WITH_RESOURCE, {"resource": resource.encode()})

    assert cloud.directory.logins == [other.client_id]


async def test_a_resource_with_other_parameters(server: Infisical, cloud: Azure) -> None:
    with pytest.raises(Malformed, match=r"auth\.azureAuthCredentials\.resource"):
        await reads(server, WITH_RESOURCE, {"resource": b"https://management.azure.com/&bypass=1"})

    assert cloud.machine.asked == []


async def test_the_workload_identity_of_the_pod(
    server: Infisical, cloud: Azure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer = Issuer("https://cluster.example", frozenset())
    application = cloud.directory.register("pod")
    application.trusts.append(Trust(issuer, "daemon"))
    server.clouds.client = application.client_id
    (tmp_path / "token").write_text(issuer.token("daemon", "api://AzureADTokenExchange", now=NOW))
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", cloud.url)
    monkeypatch.setenv("AZURE_CLIENT_ID", application.client_id)
    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    monkeypatch.setenv("AZURE_FEDERATED_TOKEN_FILE", str(tmp_path / "token"))
    await reads(server, AZURE)

    assert server.logins == ["azure-auth"]
    assert cloud.machine.asked == []


async def test_an_identity_that_is_not_allowed(server: Infisical, cloud: Azure) -> None:
    cloud.machine.own = cloud.directory.register("machine")
    with pytest.raises(Denied, match="the login is refused") as caught:
        await reads(server, AZURE)

    assert "azureAuthCredentials" in caught.value.hint


async def test_a_machine_without_an_identity(server: Infisical, cloud: Azure) -> None:
    with pytest.raises(Malformed, match="there is no such identity here") as caught:
        await reads(server, AZURE)

    assert cloud.machine.asked
    assert "azureAuthCredentials.resource" in caught.value.hint
