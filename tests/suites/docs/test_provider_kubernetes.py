"""The guides of kubernetes and crd stores do what they say, against a real API server."""

import asyncio
import os
from base64 import b64decode
from pathlib import Path

import pytest

from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.servers.kube.running import ADMIN, KubeApi, kube_api

pytestmark = pytest.mark.slow


@pytest.fixture
async def api() -> KubeApi:
    return await asyncio.to_thread(kube_api)


async def synced(page: str, api: KubeApi, namespace: str, folder: Path) -> tuple[str, str]:
    """What the guide of a provider brings into files, and what it says that it does."""
    shown = {block.title: block.text for block in blocks(ROOT / "docs" / "providers" / page) if block.title}
    manifests, output = folder / "manifests", folder / "out"
    manifests.mkdir()
    real = {
        "https://cluster.example:6443": api.url,
        "LS0tLS1CRUdJTi4uLi0tLS0t": api.ca_base64,
        "token-of-a-service-account": ADMIN,
        "remoteNamespace: payments": f"remoteNamespace: {namespace}",
        "^payments$": f"^{namespace}$",
        "payments/gateway": f"{namespace}/gateway",
    }
    for title in (title for title in shown if title.endswith(".yaml")):
        text = shown[title]
        for example, ours in real.items():
            text = text.replace(example, ours)
        (manifests / title).write_text(text)
    settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
    result = await one_pass(settings, Registry())
    assert (result.problems, result.failures) == ([], {})
    held = {file.name: file.read_text() for file in (output / "default" / "app").iterdir()}
    return "".join(f"{key}: {held[key]}\n" for key in sorted(held)), shown["result"]


async def test_the_guide_of_kubernetes(api: KubeApi, tmp_path: Path) -> None:
    namespace = api.namespace()
    path = f"/api/v1/namespaces/{namespace}/secrets"
    database = {"password": "correct horse", "connection": '{"host": "db.internal"}'}
    metadata = {"name": "database", "labels": {"team": "payments"}}
    api.create(path, {"metadata": metadata, "stringData": database})
    api.create(path, {"metadata": {"name": "cache"}, "stringData": {"url": "redis://cache"}})
    found, expected = await synced("kubernetes.md", api, namespace, tmp_path)
    issued, public = api.get(f"{path}/issued") or {}, api.get(f"{path}/public") or {}

    assert found == expected
    assert issued["metadata"]["labels"] == {"team": "payments", "pushed-by": "syncret"}
    assert b64decode(issued["data"]["tls.key"]) == b"key"
    assert b64decode(public["data"]["issued.crt"]) == b"certificate"


async def test_the_guide_of_crd(api: KubeApi, tmp_path: Path) -> None:
    namespace = api.namespace()
    data = {"endpoint": "https://pay.internal", "limits": '{"perMinute": 100}'}
    api.create(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "gateway"}, "data": data})
    found, expected = await synced("crd.md", api, namespace, tmp_path)

    assert found == expected
