"""Azure's client of container registries gets its tokens on the server. Nothing of syncret takes part."""

import asyncio

import pytest

from tests.support.servers.azure.directory import MANAGEMENT
from tests.support.servers.azure.sdk import Sdk, containerregistry, credential, exceptions
from tests.support.servers.azure.server import Azure


def client(cloud: Azure, credentials: Sdk, audience: str = MANAGEMENT) -> Sdk:
    return containerregistry.ContainerRegistryClient(
        cloud.secure_url,
        credentials,
        audience=audience,
        api_version="2021-07-01",
        connection_verify=cloud.bundle,
        retry_total=0,
    )


async def test_tokens_for_a_registry(cloud: Azure) -> None:
    def script() -> None:
        assert list(client(cloud, credential(cloud)).list_repository_names()) == ["app", "web"]
        assert list(cloud.registry.refresh_tokens.values()) == cloud.directory.logins
        assert list(cloud.registry.access_tokens.values()) == ["registry:catalog:*"]

    await asyncio.to_thread(script)


async def test_identities_without_rights(cloud: Azure) -> None:
    def script() -> None:
        outsider = cloud.directory.register("outsider", secret="x").client_id
        theirs = credential(cloud, client_id=outsider, client_secret="x")
        for who, audience in ((theirs, MANAGEMENT), (credential(cloud), "https://vault.azure.net")):
            with pytest.raises(exceptions.HttpResponseError):
                list(client(cloud, who, audience).list_repository_names())
        assert cloud.registry.refresh_tokens == {}

    await asyncio.to_thread(script)
