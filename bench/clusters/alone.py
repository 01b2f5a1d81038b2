"""A real API server and a real Vault: how long a first sync takes, what it asks for, what a restart costs.

The floor is what the API server itself needs for the same writes: a loop that creates as many Secrets and
patches as many statuses, as many at a time.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.clusters.estate import (
    KEYS,
    UNBOUND,
    fill,
    floor,
    give_stores,
    kubeconfig,
    names_of_ready,
    requests_of,
)
from bench.clusters.processes import cpu_of, rss_of
from bench.estate import INSTALLED
from bench.figures import Figure
from tests.real.e2e.process import daemon
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import KubeApi, kube_api

OBJECTS: Final = 2000
FLOOR: Final = 1.3
CPU: Final = 8.0
MEGABYTES: Final = 80.0
RESTART: Final = 2.0
CALLS: Final = "externalsecret_provider_api_calls_count"


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """On servers that are built now, or those of KUBEBUILDER_ASSETS and VAULT_BIN."""
    if shutil.which("go") is None and not os.environ.get("KUBEBUILDER_ASSETS"):
        yield Figure("a cluster", "", "not measured: needs Go, or KUBEBUILDER_ASSETS")
        return
    objects = 40 if smoke else OBJECTS
    api = kube_api()
    install(api)
    bare = asyncio.run(floor(api, objects))
    namespace = api.namespace()
    give_stores(api, namespace, "vault", annotations=UNBOUND)
    asyncio.run(fill(api, namespace, objects))
    folder = folder / "cluster"
    folder.mkdir()
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={kubeconfig(folder, api)}")
    before = requests_of(api)
    begin = time.monotonic()
    with daemon(folder, None, *flags, ready=False, program=INSTALLED) as process:
        process.until(lambda: "the first pass is done" in process.stderr, "synced")
        took = time.monotonic() - begin
        pid = process.process.pid
        cpu, rss = cpu_of(pid), rss_of(pid)
        reads = process.metric(CALLS, call="ReadSecretData")
        asked = requests_of(api) - before
        assert len(names_of_ready(api, namespace)) == objects
        assert process.stop() == 0
    name = f"cluster, first sync of {objects} ExternalSecrets on {KEYS} Vault keys"
    yield Figure(
        f"{name}: time, against {objects} bare creations and status patches",
        f"<= {FLOOR:g} x",
        f"{took / bare:.2f} x ({took:.1f} s / {bare:.1f} s)",
        took <= FLOOR * bare,
    )
    yield Figure("- provider reads", f"<= {KEYS}", f"{reads:g}", reads <= KEYS)
    writes = sum(count for (_, _, verb), count in asked.items() if verb in {"POST", "PUT", "PATCH", "DELETE"})
    singles = asked["secrets", "", "GET"] + asked["externalsecrets", "", "GET"]
    yield Figure(
        "- API requests for each object",
        "2",
        f"{(writes + singles) / objects:.2f} ({writes} writes, {singles} reads by name)",
        writes + singles <= 2 * objects + KEYS,
    )
    yield Figure("- processor", f"<= {CPU:g} s", f"{cpu:.1f} s", cpu <= CPU)
    yield Figure("- RSS then", f"<= {MEGABYTES:g} MB", f"{rss:.0f} MB", rss <= MEGABYTES)
    yield from _restart(folder, api, flags, objects)


def _restart(folder: Path, api: KubeApi, flags: tuple[str, ...], objects: int) -> Iterator[Figure]:
    before = requests_of(api)
    begin = time.monotonic()
    with daemon(folder, None, *flags, ready=False, program=INSTALLED) as process:
        process.until(lambda: "the first pass is done" in process.stderr, "ready")
        took = time.monotonic() - begin
        calls = process.metric(CALLS, call="ReadSecretData")
        asked = requests_of(api) - before
        assert process.stop() == 0
    writes = sum(count for (_, _, verb), count in asked.items() if verb in {"POST", "PUT", "PATCH", "DELETE"})
    singles = asked["secrets", "", "GET"] + asked["externalsecrets", "", "GET"]
    yield Figure(
        f"cluster, restart with {objects} ExternalSecrets, nothing due: ready",
        f"<= {RESTART:g} s",
        f"{took:.2f} s",
        took <= RESTART,
    )
    yield Figure(
        "- writes, reads by name, provider reads",
        "0, 0, 0",
        f"{writes}, {singles}, {calls:g}",
        not (writes or singles or calls),
    )
