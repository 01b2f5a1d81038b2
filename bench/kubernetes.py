"""A real API server and a real Vault: how long a first sync takes, what it asks for, what a restart costs.

The floor is what the API server itself needs for the same writes: a loop that creates as many Secrets and
patches as many statuses, as many at a time.
"""

import asyncio
import json
import os
import re
import shutil
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import aiohttp

from bench.figures import Figure
from syncret.config.meta import Document
from syncret.daemon.homes.kubernetes.home import WRITES_AT_ONCE
from tests.real.e2e.process import Daemon, daemon
from tests.real.vault.support import Mount
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import ADMIN, KubeApi, kube_api
from tests.support.servers.vault.running import vault

OBJECTS: Final = 2000
KEYS: Final = 200
FLOOR: Final = 1.3
CPU: Final = 8.0
MEGABYTES: Final = 80.0
RESTART: Final = 2.0
READY: Final = 300.0

GROUP: Final = "/apis/external-secrets.io/v1"
COUNTED: Final = re.compile(
    r'^apiserver_request_total\{.*resource="(?P<resource>\w+)".*subresource="(?P<sub>\w*)".*'
    r'verb="(?P<verb>\w+)".*\} (?P<count>\d+)'
)
CALLS: Final = "externalsecret_provider_api_calls_count"


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """On servers that are built now, or those of KUBEBUILDER_ASSETS and VAULT_BIN."""
    if shutil.which("go") is None and not os.environ.get("KUBEBUILDER_ASSETS"):
        yield Figure("a cluster", "", "not measured: needs Go, or KUBEBUILDER_ASSETS")
        return
    objects = 40 if smoke else OBJECTS
    api = kube_api()
    install(api)
    floor = asyncio.run(_floor(api, objects))
    namespace = api.namespace()
    asyncio.run(_fill(api, namespace, objects))
    folder = folder / "cluster"
    folder.mkdir()
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={_kubeconfig(folder, api)}")
    before = _requests(api)
    begin = time.monotonic()
    with daemon(folder, None, *flags, ready=False) as process:
        process.until(lambda: "the first pass is done" in process.stderr, "synced")
        took = time.monotonic() - begin
        cpu, rss = _cpu(process), _rss(process)
        reads = process.metric(CALLS, call="ReadSecretData")
        asked = _requests(api) - before
        _check(api, namespace, objects)
        assert process.stop() == 0
    name = f"cluster, first sync of {objects} ExternalSecrets on {KEYS} Vault keys"
    yield Figure(
        f"{name}: time, against {objects} bare creations and status patches",
        f"<= {FLOOR:g} x",
        f"{took / floor:.2f} x ({took:.1f} s / {floor:.1f} s)",
        took <= FLOOR * floor,
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
    before = _requests(api)
    begin = time.monotonic()
    with daemon(folder, None, *flags, ready=False) as process:
        process.until(lambda: "the first pass is done" in process.stderr, "ready")
        took = time.monotonic() - begin
        calls = process.metric(CALLS, call="ReadSecretData")
        asked = _requests(api) - before
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


def _check(api: KubeApi, namespace: str, objects: int) -> None:
    """Everything is there and said, not only begun."""
    found = api.request("GET", f"{GROUP}/namespaces/{namespace}/externalsecrets").body["items"]
    ready = [
        each["metadata"]["name"]
        for each in found
        for condition in each.get("status", {}).get("conditions", [])
        if condition["type"] == "Ready" and condition["status"] == "True"
    ]
    assert len(ready) == objects, f"{len(ready)} of {objects} are ready"


def _requests(api: KubeApi) -> Counter[tuple[str, str, str]]:
    """What the API server has answered: resource, subresource, verb."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for line in api.text("/metrics").splitlines():
        match = COUNTED.match(line)
        if match and match["resource"] in {"secrets", "externalsecrets", "secretstores"}:
            counts[match["resource"], match["sub"], match["verb"]] += int(match["count"])
    return counts


def _cpu(process: Daemon) -> float:
    """Seconds of processor time."""
    fields = Path(f"/proc/{process.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rss(process: Daemon) -> float:
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def _kubeconfig(folder: Path, api: KubeApi) -> Path:
    cluster = {"server": api.url, "certificate-authority-data": api.ca_base64}
    document = {
        "current-context": "bench",
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "clusters": [{"name": "bench", "cluster": cluster}],
        "users": [{"name": "bench", "user": {"token": ADMIN}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(document))
    return path


# ---------------------------------------------------------------------------------------------- what is there
def _object(number: int) -> Document:
    key = f"key-{number % KEYS}"
    data = [{"secretKey": name, "remoteRef": {"key": key, "property": name}} for name in ("user", "password")]
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": f"app-{number}"},
        "spec": {"refreshInterval": "1000h", "secretStoreRef": {"name": "vault"}, "data": data},
    }


async def _fill(api: KubeApi, namespace: str, objects: int) -> None:
    """A store of a real Vault, and so many objects."""
    mount = Mount(vault())
    for number in range(KEYS):
        secret = {"user": f"user-{number}", "password": "x" * 32, "port": 5432}
        mount.server.write(f"{mount.path}/data/key-{number}", data=secret)
    auth, given = mount.app_role()
    role = auth.app_role
    assert role is not None
    login = {"secret-id": b64encode(given.secrets["login"]["secret-id"]).decode()}
    api.create(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": "login"}, "data": login})
    reference = {"name": "login", "key": "secret-id"}
    app_role = {"path": role.path, "roleId": role.role_id, "secretRef": reference}
    store = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {
            "name": "vault",
            "annotations": {"syncret.dev/requests-per-second": "100000", "syncret.dev/burst": "100000"},
        },
        "spec": {
            "provider": {
                "vault": {"server": mount.server.url, "path": mount.path, "auth": {"appRole": app_role}}
            }
        },
    }
    api.create(f"{GROUP}/namespaces/{namespace}/secretstores", store)
    path = f"{GROUP}/namespaces/{namespace}/externalsecrets"
    await _each(api, [("POST", path, _object(number)) for number in range(objects)])


async def _floor(api: KubeApi, objects: int) -> float:
    """Seconds for the same writes without anybody who decides on them."""
    namespace = api.namespace()
    path = f"{GROUP}/namespaces/{namespace}/externalsecrets"
    await _each(api, [("POST", path, _object(number)) for number in range(objects)])
    condition = {"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "secret synced"}
    status = {"conditions": [condition], "refreshTime": "2026-01-01T00:00:00Z", "binding": {"name": "app"}}
    data = {"user": "dXNlcg==", "password": b64encode(b"x" * 32).decode()}
    labels = {"reconcile.external-secrets.io/managed": "true"}
    begin = time.perf_counter()
    pairs = [
        (
            (
                "POST",
                f"/api/v1/namespaces/{namespace}/secrets",
                {"metadata": {"name": f"app-{number}", "labels": labels}, "data": data},
            ),
            ("PATCH", f"{path}/app-{number}/status", {"status": status}),
        )
        for number in range(objects)
    ]
    await _each(api, [each for pair in pairs for each in pair])
    return time.perf_counter() - begin


async def _each(api: KubeApi, requests: list[tuple[str, str, Document]]) -> None:
    """All requests, so many at a time as the daemon makes them."""
    left = iter(requests)
    connector = aiohttp.TCPConnector(ssl=api.trust, limit=WRITES_AT_ONCE)
    headers = {"Authorization": f"Bearer {ADMIN}"}

    async def work(session: aiohttp.ClientSession) -> None:
        for method, path, document in left:
            kind = "merge-patch+json" if method == "PATCH" else "json"
            sent = {"Content-Type": f"application/{kind}"}
            async with session.request(
                method, api.url + path, data=json.dumps(document), headers=sent
            ) as answer:
                assert answer.status in {200, 201}, await answer.text()
                await answer.read()

    async with (
        aiohttp.ClientSession(connector=connector, headers=headers) as session,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(WRITES_AT_ONCE):
            group.create_task(work(session))
