"""A real API server: how long a change of a resource's status takes until its output says so."""

import asyncio
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import aiohttp

from bench.clusters.processes import ours
from bench.figures import Figure, p99
from syncret.config.meta import Document
from tests.real.exports.crds import crd, install
from tests.support.servers.kube.crds import install as install_ours
from tests.support.servers.kube.running import ADMIN, KubeApi, kube_api

RESOURCES: Final = 200
CHANGES: Final = 1000
A_SECOND: Final = 100
GOAL: Final = 0.15
_GROUP: Final = "storage.azure.com"
_LONGEST: Final = 120.0


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """On a server that is built now, or that of KUBEBUILDER_ASSETS."""
    if shutil.which("go") is None and not os.environ.get("KUBEBUILDER_ASSETS"):
        yield Figure("exports in a cluster", "", "not measured: needs Go, or KUBEBUILDER_ASSETS")
        return
    resources, changes = (5, 20) if smoke else (RESOURCES, CHANGES)
    api = kube_api()
    install_ours(api)
    path = install(api, crd(_GROUP, "StorageAccount", "storageaccounts"))
    namespace = api.namespace()
    collection = f"{path}/namespaces/{namespace}/storageaccounts"
    for number in range(resources):
        api.create(collection, _resource(number))
    folder = folder / "exporting"
    folder.mkdir()
    with ours(folder, api, namespace) as running:
        running.wait_reconciled(resources)
        waits = asyncio.run(_changes(api, namespace, collection, resources, changes))
    slowest = p99(waits)
    yield Figure(
        f"a status change -> output, at {A_SECOND} changes/s on a real API server: p99 of {changes}",
        f"{GOAL * 1e3:.0f} ms",
        f"{slowest * 1e3:.0f} ms (median {sorted(waits)[len(waits) // 2] * 1e3:.0f} ms)",
        met=slowest <= GOAL,
    )


def _resource(number: int) -> Document:
    entry = {"name": f"o{number}", "key": "id", "value": "self.status.id"}
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "StorageAccount",
        "metadata": {"name": f"a{number}"},
        "spec": {"operatorSpec": {"dynamicConfigMaps": [entry]}},
    }


async def _changes(
    api: KubeApi, namespace: str, collection: str, resources: int, changes: int
) -> list[float]:
    """The seconds of each change, from its answer to the event of the ConfigMap."""
    headers = {"Authorization": f"Bearer {ADMIN}"}
    waiting: dict[int, asyncio.Future[float]] = {}
    async with (
        aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(ssl=False)) as session,
        session.get(
            f"{api.url}/api/v1/namespaces/{namespace}/configmaps?watch=1", timeout=aiohttp.ClientTimeout(None)
        ) as events,
    ):

        async def read() -> None:
            async for line in events.content:
                change = json.loads(line)["object"].get("data", {}).get("id", "")
                if not change:
                    continue
                newest = int(change.removeprefix("/change/"))
                for number in [each for each in waiting if each <= newest]:
                    if number % resources == newest % resources:  # or it was overtaken by the next one
                        waiting.pop(number).set_result(time.perf_counter())

        async def change(number: int) -> float:
            answer = waiting[number] = asyncio.get_running_loop().create_future()
            async with session.patch(
                f"{api.url}{collection}/a{number % resources}/status",
                data=json.dumps({"status": {"id": f"/change/{number}"}}),
                headers={"Content-Type": "application/merge-patch+json"},
            ) as done:
                done.raise_for_status()
                begin = time.perf_counter()
            ended: float = await answer
            return ended - begin

        reading = asyncio.create_task(read())
        tasks: list[asyncio.Task[float]] = []
        begin = asyncio.get_running_loop().time()
        for number in range(-resources, changes):  # each once before, so that its output is there
            if number >= 0:
                await asyncio.sleep(max(0.0, begin + number / A_SECOND - asyncio.get_running_loop().time()))
                tasks.append(asyncio.create_task(change(number)))
            else:
                await asyncio.wait_for(change(number), _LONGEST)
                begin = asyncio.get_running_loop().time()
        async with asyncio.timeout(_LONGEST):
            found = await asyncio.gather(*tasks)
        reading.cancel()
    return found
