"""`syncret run --kubernetes` as a user has it: with a kubeconfig, asked by its socket, ended by a signal."""

from pathlib import Path

import pytest

from syncret.config.meta import Document, member
from tests.real.e2e.process import daemon, syncret
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.running import KubeApi
from tests.support.servers.small_vault import small_vault

pytestmark = pytest.mark.slow


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


def test_a_store_that_goes_down_is_not_reachable_and_ready_all_the_same(
    tmp_path: Path, kubeconfig: Path, api: KubeApi, namespace: str
) -> None:
    cluster = Cluster(api, namespace)
    login = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "login"},
        "stringData": {"id": "right"},
    }
    api.create(cluster.path("secrets"), login)
    role = {"path": "approle", "roleId": "role", "secretRef": {"name": "login", "key": "id"}}
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={kubeconfig}")

    def conditions() -> list[tuple[str, str, str]]:
        status = member(cluster.get("secretstores", "s") or {}, "status")
        found: list[Document] = status.get("conditions", [])
        return [(each["type"], each["status"], each["message"]) for each in found]

    with small_vault() as vault:
        spec = {"server": vault.url, "path": "kv", "version": "v2", "auth": {"appRole": role}}
        cluster.create("secretstores", "s", {"provider": {"vault": spec}})
        cluster.sync("e", refreshInterval="2s", data=[], dataFrom=[{"extract": {"key": "k"}}])
        with daemon(tmp_path, None, *flags) as process:
            process.until(lambda: cluster.get("secrets", "e") is not None, "synced")
            ready = ("Ready", "True", "store validated")
            assert conditions() == [ready]
            vault.goes_away()
            problem = f"{vault.url.removeprefix('http://')} refuses connections"
            process.until(lambda: len(conditions()) > 1, "another condition")
            assert conditions() == [ready, ("Reachable", "False", problem)]
            process.until(lambda: problem in cluster.ready("e").get("message", ""), "the cause at the object")
            vault.comes_back()
            process.until(lambda: conditions()[1][1] == "True", "reachable again")
            assert conditions()[0] == ready
            process.until(lambda: cluster.ready("e").get("status") == "True", "synced again")


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


def test_probes_and_metrics_tell_of_the_cluster(
    tmp_path: Path, kubeconfig: Path, api: KubeApi, namespace: str
) -> None:
    cluster = Cluster(api, namespace)
    cluster.store(k="one")
    cluster.sync("e")
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={kubeconfig}")
    eso = (
        "--enable-leader-election",
        "--concurrent=5",
        "--live-addr=127.0.0.1:0",
        f"--set=leaderElection.namespace={namespace}",
    )
    with daemon(tmp_path, None, *flags, *eso) as process:
        process.until(lambda: cluster.get("secrets", "e") is not None, "synced")
        process.until(lambda: cluster.ready("e").get("status") == "True", "said")
        text = process.get("/metrics")
        assert process.get("/readyz") == "ok\n"
        assert 'syncret_api_requests_total{verb="create",kind="Secret",code="201"} 1' in text
        assert 'syncret_stream_synced{kind="ExternalSecret"} 1' in text
        assert 'leader_election_master_status{name="external-secrets-controller"} 1' in text
        assert 'rest_client_requests_total{code="201",method="POST",' in text
        assert process.stderr.count("the flag has no effect") == 1
        assert "--concurrent" in process.stderr
