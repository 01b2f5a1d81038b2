"""Azure's clouds, and those of others: where tokens come from, and which service they are for."""

from typing import Any

import pytest
from aiohttp import web

from syncret.providers.azurekv.connection import cloud_of
from syncret.providers.azurekv.spec import AzureKvSpec, CustomCloud
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.azure.clouds import CLOUDS
from tests.support.opened import Clock, Given
from tests.support.servers.azure.directory import TENANT, VAULT
from tests.support.servers.azure.server import Azure
from tests.unit.providers.azurekv.stores import reads


@pytest.mark.parametrize(
    ("environment", "authority", "vault"),
    [
        pytest.param("PublicCloud", "https://login.microsoftonline.com", VAULT, id="public"),
        pytest.param(
            "USGovernmentCloud",
            "https://login.microsoftonline.us",
            "https://vault.usgovcloudapi.net",
            id="us",
        ),
        pytest.param("ChinaCloud", "https://login.chinacloudapi.cn", "https://vault.azure.cn", id="china"),
        pytest.param(
            "GermanCloud", "https://login.microsoftonline.de", "https://vault.microsoftazure.de", id="germany"
        ),
    ],
)
def test_clouds(environment: Any, authority: str, vault: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401  # a literal
    monkeypatch.delenv("AZURE_AUTHORITY_HOST", raising=False)
    found = cloud_of(AzureKvSpec(vault_url="https://v", environment_type=environment))

    assert (found.authority, found.vault) == (authority, vault)


def test_the_environment_moves_the_public_cloud_only() -> None:
    there = {"AZURE_AUTHORITY_HOST": "login.example/"}

    assert CLOUDS["PublicCloud"].with_overrides(there).authority == "https://login.example"
    assert CLOUDS["ChinaCloud"].with_overrides(there) == CLOUDS["ChinaCloud"]


def test_germany_is_no_more() -> None:
    with pytest.raises(Malformed, match="discontinued"):
        cloud_of(AzureKvSpec(vault_url="https://v", environment_type="GermanCloud", use_azure_sdk=True))


@pytest.mark.parametrize(
    ("custom", "vault"),
    [
        pytest.param({"key_vault_endpoint": "https://vault.local/"}, "https://vault.local", id="endpoint"),
        pytest.param({"key_vault_dns_suffix": ".vault.local"}, "https://vault.local", id="suffix"),
        pytest.param({}, "", id="the vault is asked"),
    ],
)
def test_clouds_of_ones_own(custom: dict[str, str], vault: str) -> None:
    config = CustomCloud(active_directory_endpoint="https://login.local/", **custom)
    found = cloud_of(
        AzureKvSpec(vault_url="https://v", environment_type="AzureStackCloud", custom_cloud_config=config)
    )

    assert (found.authority, found.vault) == ("https://login.local", vault)


async def test_a_vault_is_asked_for_its_service(cloud: Azure, given: Given, clock: Clock) -> None:
    own: dict[str, Any] = {
        "environment_type": "AzureStackCloud",
        "use_azure_sdk": True,
        "custom_cloud_config": CustomCloud(active_directory_endpoint=cloud.url),
    }
    with pytest.raises(Malformed, match="another service than its own"):
        await reads(cloud, given, clock, **own)
    resource = "https://0.1"
    cloud.directory.resources.add(resource)

    def challenge(request: web.Request) -> web.StreamResponse | None:
        if "Authorization" in request.headers or request.path != "/secrets":
            return None
        header = f'Bearer authorization="{cloud.url}/{TENANT}", resource="{resource}"'
        return web.Response(status=401, headers={"WWW-Authenticate": header})

    with cloud.failing(challenge), pytest.raises(Denied, match="does not accept"):
        await reads(cloud, given, clock, **own)
    assert {token.audience for token in cloud.directory.tokens.values()} == {resource}

    known = {
        **own,
        "custom_cloud_config": CustomCloud(active_directory_endpoint=cloud.url, key_vault_endpoint=VAULT),
    }
    assert await reads(cloud, given, clock, **known) == b"one"
