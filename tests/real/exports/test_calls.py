"""A thousand resources of Azure: how many calls their exports cost."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import pytest

from syncret.config.meta import Document
from syncret.config.resources.kinds import SECRET
from syncret.config.settings import Settings
from syncret.daemon.app import run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.registry import Registry
from tests.support.servers.azure.directory import TENANT
from tests.support.servers.azure.server import Azure, azure
from tests.support.servers.azure.variables import variables

pytestmark = pytest.mark.slow

COUNT = 1000
SUBSCRIPTIONS = 10
"""Azure allows an application 250 calls at once in each."""

WITHIN = 120.0


@pytest.fixture
async def cloud(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Azure]:
    async with azure() as cloud:
        for name, value in variables(cloud).items():
            monkeypatch.setenv(name, value)
        yield cloud


def credentials(cloud: Azure) -> Document:
    member = cloud.member("team", secret="s3cret-4f1c")
    data = {
        "AZURE_TENANT_ID": TENANT,
        "AZURE_CLIENT_ID": member.client_id,
        "AZURE_CLIENT_SECRET": "s3cret-4f1c",
    }
    metadata = {"name": "aso-credential", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}


def cluster_resource(cloud: Azure, number: int, values: Sequence[str]) -> Document:
    name = f"c{number}"
    path = f"Microsoft.ContainerService/managedClusters/{name}"
    entries = [{"name": name, "key": f"k{place}", "value": value} for place, value in enumerate(values)]
    return {
        "apiVersion": "containerservice.azure.com/v1api20231001",
        "kind": "ManagedCluster",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"operatorSpec": {"dynamicSecrets": entries}},
        "status": {"id": cloud.management.add(path, f"s{number % SUBSCRIPTIONS}")},
    }


@pytest.mark.parametrize(
    ("values", "calls"),
    [
        pytest.param(["self.status.id"], {}, id="no-secret"),
        pytest.param(["secret.adminCredentials"], {"listClusterAdminCredential": COUNT}, id="one-name"),
        pytest.param(
            ["secret.adminCredentials", "secret.userCredentials", "secret.adminCredentials + '!'"],
            {"listClusterAdminCredential": COUNT, "listClusterUserCredential": COUNT},
            id="names-of-two-apis",
        ),
    ],
)
async def test_a_call_for_each_api_that_is_used(
    cloud: Azure, values: list[str], calls: dict[str, int]
) -> None:
    clock = Clock()
    home = MemoryCluster(now=clock.now)
    await home.apply(credentials(cloud))
    for number in range(COUNT):
        await home.apply(cluster_resource(cloud, number, values))
    async with run_engine(home, registry=Registry(), settings=Settings(), clock=clock) as running:
        async with asyncio.timeout(WITHIN):
            await running.engine.first_pass.wait()
    written = await home.list(SECRET.group_kind)
    assert len(written) == COUNT + 1
    asked = Counter(cloud.management.calls)
    assert Counter(each.partition(" ")[0] for each in asked) == calls
    assert asked.total() <= 1.05 * sum(calls.values())  # a run that is made again asks again
    assert len(cloud.directory.logins) == (1 if calls else 0)
    assert cloud.management.throttled == 0
