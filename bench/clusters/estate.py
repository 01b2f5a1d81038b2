"""Fills a measured cluster, makes the same writes without a controller, and counts the server's answers."""

import asyncio
import json
import re
import socket
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import aiohttp

from syncret.config.meta import Document
from syncret.daemon.homes.kubernetes.home import WRITES_AT_ONCE
from tests.real.vault.support import Mount
from tests.support.servers.kube.running import ADMIN, KubeApi
from tests.support.servers.vault.running import vault

KEYS: Final = 200
GROUP: Final = "/apis/external-secrets.io/v1"
API_VERSION: Final = "external-secrets.io/v1"
COUNTED: Final = re.compile(
    r'^apiserver_request_total\{.*resource="(?P<resource>\w+)".*subresource="(?P<sub>\w*)".*'
    r'verb="(?P<verb>\w+)".*\} (?P<count>\d+)'
)
RESOURCES: Final = frozenset({"secrets", "externalsecrets", "secretstores"})
UNBOUND: Final = {"syncret.dev/requests-per-second": "100000", "syncret.dev/burst": "100000"}
"""Annotations of a store without a limit of its rate."""


def requests_of(api: KubeApi) -> Counter[tuple[str, str, str]]:
    """What the API server has answered: resource, subresource, verb."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for line in api.text("/metrics").splitlines():
        match = COUNTED.match(line)
        if match and match["resource"] in RESOURCES:
            counts[match["resource"], match["sub"], match["verb"]] += int(match["count"])
    return counts


def kubeconfig(folder: Path, api: KubeApi) -> Path:
    """A file that makes its user the administrator."""
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


def external_secret(name: str, number: int, *, store: str = "vault", every: str = "1000h") -> Document:
    """Two values of one of the keys."""
    key = f"key-{number % KEYS}"
    fields = ("user", "password")
    data = [{"secretKey": each, "remoteRef": {"key": key, "property": each}} for each in fields]
    return {
        "apiVersion": API_VERSION,
        "kind": "ExternalSecret",
        "metadata": {"name": name},
        "spec": {"refreshInterval": every, "secretStoreRef": {"name": store}, "data": data},
    }


def collection(namespace: str, plural: str = "externalsecrets") -> str:
    """The path of the objects of a namespace."""
    return f"{GROUP}/namespaces/{namespace}/{plural}"


def give_stores(
    api: KubeApi, namespace: str, *names: str, annotations: Document | None = None, hung: Sequence[str] = ()
) -> None:
    """Stores of one Vault that has all keys; those that hang are at an address that takes no connection."""
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
    for name in (*names, *hung):
        address = _deaf() if name in hung else mount.server.url
        spec = {"provider": {"vault": {"server": address, "path": mount.path, "auth": {"appRole": app_role}}}}
        store = {
            "apiVersion": API_VERSION,
            "kind": "SecretStore",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": spec,
        }
        api.create(collection(namespace, "secretstores"), store)


@cache
def _deaf() -> str:
    """The address of a server that never answers: connections wait, and are never accepted."""
    server = socket.create_server(("127.0.0.1", 0), backlog=4096)
    _DEAF.append(server)
    return f"http://127.0.0.1:{server.getsockname()[1]}"


_DEAF: Final[list[socket.socket]] = []
"""Keeps it open."""


async def fill(api: KubeApi, namespace: str, objects: int, *, first: int = 0) -> None:
    """So many ExternalSecrets of the store `vault`."""
    path = collection(namespace)
    numbers = range(first, first + objects)
    await each(api, [("POST", path, external_secret(f"app-{number}", number)) for number in numbers])


async def floor(api: KubeApi, objects: int) -> float:
    """Seconds for the same writes without a controller."""
    namespace = api.namespace()
    await fill(api, namespace, objects)
    path = collection(namespace)
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
    await each(api, [one for pair in pairs for one in pair])
    return time.perf_counter() - begin


async def each(api: KubeApi, requests: list[tuple[str, str, Document]]) -> None:
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


def names_of_ready(api: KubeApi, namespace: str) -> list[str]:
    """The ExternalSecrets that say that they are synced."""
    found = api.request("GET", collection(namespace)).body["items"]
    return [
        one["metadata"]["name"]
        for one in found
        for condition in one.get("status", {}).get("conditions", [])
        if condition["type"] == "Ready" and condition["status"] == "True"
    ]
