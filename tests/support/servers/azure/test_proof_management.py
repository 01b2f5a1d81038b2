"""Azure's own management clients read secrets from the server. Nothing of syncret takes part."""

import asyncio
from importlib import import_module
from typing import Any

import pytest

from tests.support.servers.azure.directory import MANAGEMENT
from tests.support.servers.azure.management import GROUP, SUBSCRIPTION
from tests.support.servers.azure.management_clients import SERVICES, Service
from tests.support.servers.azure.sdk import Sdk, credential, refused
from tests.support.servers.azure.server import Azure

pytestmark = pytest.mark.slow


def manager(cloud: Azure, module: str, client: str, credentials: Sdk = None) -> Sdk:
    """A client of one service, at the server."""
    made: Any = getattr(import_module(f"azure.mgmt.{module}"), client)
    return made(
        credentials or credential(cloud),
        SUBSCRIPTION,
        base_url=cloud.secure_url,
        credential_scopes=[f"{MANAGEMENT}/.default"],
        connection_verify=cloud.bundle,
        retry_total=0,
    )


@pytest.mark.parametrize("service", [pytest.param(each, id=each.id) for each in SERVICES])
async def test_the_client_of_the_service_reads_its_secrets(cloud: Azure, service: Service) -> None:
    resource = cloud.management.add(service.path)
    found = await asyncio.to_thread(lambda: service.read(manager(cloud, service.module, service.client)))
    assert found == [cloud.management.secret(resource, name) for name in service.names]
    assert cloud.directory.logins == cloud.management.clients[:1]


async def test_errors_are_those_that_the_clients_know(cloud: Azure) -> None:
    def list_keys(name: str, credentials: Sdk = None) -> None:
        client = manager(cloud, "storage", "StorageManagementClient", credentials)
        client.storage_accounts.list_keys(GROUP, name)

    def script() -> None:
        with refused(404, "ResourceGroupNotFound"):
            list_keys("shop")
        cloud.management.add("Microsoft.Storage/storageAccounts/shop")
        with refused(404, "ResourceNotFound"):
            list_keys("other")
        outsider = cloud.directory.register("outsider", secret="x").client_id
        with refused(403, "AuthorizationFailed"):
            list_keys("shop", credential(cloud, client_id=outsider, client_secret="x"))
        cloud.management.remaining = 0
        with refused(429, "SubscriptionRequestsThrottled"):
            list_keys("shop")

    await asyncio.to_thread(script)
