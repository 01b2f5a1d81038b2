"""`syncret run --kubernetes` as a user has it: with a kubeconfig, asked by its socket, ended by a signal."""

import json
from pathlib import Path

import pytest

from tests.real.e2e.process import daemon, syncret
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.running import ADMIN, KubeApi

pytestmark = pytest.mark.slow


@pytest.fixture
def kubeconfig(tmp_path: Path, api: KubeApi) -> Path:
    """A kubeconfig of the administrator."""
    document = {
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "clusters": [
            {"name": "test", "cluster": {"server": api.url, "certificate-authority-data": api.ca_base64}}
        ],
        "users": [{"name": "admin", "user": {"token": ADMIN}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(document))
    return path


def test_a_daemon_works_in_a_cluster(tmp_path: Path, kubeconfig: Path, api: KubeApi, namespace: str) -> None:
    cluster = Cluster(api, namespace)
    cluster.store(k="one")
    cluster.sync("e")
    cluster.sync("bad", key="missing")
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={kubeconfig}")
    with daemon(tmp_path, None, *flags) as process:
        process.until(lambda: cluster.get("secrets", "e") is not None, "synced")
        process.until(lambda: cluster.ready("bad").get("status") == "False", "the failure said")
        assert process.status("e")["ready"] is True
        explained = process.ask("explain", "es/bad", "-n", namespace)
        assert "missing" in explained.stdout
        assert process.stop() == 0
        assert "Traceback" not in process.stderr


def test_what_cannot_be_reached_is_said(tmp_path: Path, kubeconfig: Path) -> None:
    missing = syncret("run", "--kubernetes", "--set", "kubeconfig=/nowhere/config")
    assert missing.returncode == 3
    assert "/nowhere/config" in missing.stderr
    both = syncret("run", "--kubernetes", "-f", tmp_path, "--set", f"kubeconfig={kubeconfig}")
    assert both.returncode == 2
    assert "has no meaning with kubernetes" in both.stderr
    sync = syncret("sync", "--set", "kubernetes=true")
    assert sync.returncode == 2
    assert "reads manifests" in sync.stderr
