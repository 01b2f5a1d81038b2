"""`syncret migrate` on a real API server: it finds ESO, and is clean only where it should be."""

import json
import os
import pty
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from syncret.config.meta import Document
from tests.real.e2e.process import SYNCRET, environment, syncret
from tests.real.kubernetes.test_commands import kubeconfig_of
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.crds import CRDS, install
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

IMAGE = "registry.example/external-secrets:v0.20.4"
HELM = {"meta.helm.sh/release-name": "eso", "meta.helm.sh/release-namespace": "eso"}
SERVER = "https://vault.example:8200"


@pytest.fixture
def namespace(api: KubeApi) -> Generator[str]:
    """A namespace with an installation of ESO, which goes at the end: others would find it."""
    name = api.namespace()
    path = f"/apis/apps/v1/namespaces/{name}/deployments"
    api.create(path, deployment(["--concurrent=5", "--enable-leader-election"]))
    yield name
    api.request("DELETE", f"{path}/external-secrets")


def deployment(args: list[str]) -> Document:
    labels = {"app.kubernetes.io/name": "external-secrets"}
    container = {"name": "c", "image": IMAGE, "args": args, "env": [{"name": "HTTPS_PROXY", "value": "p"}]}
    return {
        "metadata": {"name": "external-secrets", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def migrate(kubeconfig: Path, namespace: str, *more: str) -> tuple[int, dict[str, Any]]:
    told = syncret("migrate", "--kubeconfig", kubeconfig, "--namespace", namespace, "-o", "json", *more)
    assert "Traceback" not in told.stderr, told.stderr
    return told.returncode, json.loads(told.stdout)


def test_flags_and_logins_of_the_operator_are_told(
    api: KubeApi, namespace: str, kubeconfig: Path, tmp_path: Path
) -> None:
    cluster = Cluster(api, namespace)
    auth = {"kubernetes": {"mountPath": "kubernetes", "role": "r"}}
    spec = {"provider": {"vault": {"server": SERVER, "path": "kv", "auth": auth}}}
    cluster.create("secretstores", "s", spec)
    cluster.sync("e")

    code, report = migrate(kubeconfig, namespace)
    assert (code, report["clean"]) == (1, False)
    assert report["settings"]["leaderElection.enabled"] == "true"
    assert report["withoutEffect"] == ["--concurrent"]
    assert [each["image"] for each in report["operator"]] == [IMAGE]
    (lost,) = report["identities"]
    assert lost["object"] == f"SecretStore/{namespace}/s"
    assert report["due"] == [f"ExternalSecret/{namespace}/e", f"SecretStore/{namespace}/s"]

    settings = tmp_path / "settings.yaml"
    lines = {"ownIdentity": report["settings"]["ownIdentity"]}
    settings.write_text(json.dumps(lines))
    code, report = migrate(kubeconfig, namespace, "--config", str(settings))
    assert (code, report["clean"], report["identities"]) == (0, True, [])


def test_an_object_that_would_be_changed_is_told(api: KubeApi, namespace: str, kubeconfig: Path) -> None:
    cluster = Cluster(api, namespace)
    cluster.store(k="one")
    cluster.sync("gone", target={"deletionPolicy": "Delete"})
    code, report = migrate(kubeconfig, namespace)
    assert code == 1
    (change,) = report["changes"]
    assert change["object"] == f"ExternalSecret/{namespace}/gone"
    assert change["writes"][0]["action"] == "finalizers"
    shown = syncret("migrate", "--kubeconfig", kubeconfig, "--namespace", namespace)
    assert "NOT CLEAN: 1 would be changed" in shown.stdout
    assert cluster.get("externalsecrets", "gone")["metadata"].get("finalizers") is None  # type: ignore[index]


def test_a_right_that_a_person_lacks_is_that_persons(api: KubeApi, namespace: str, tmp_path: Path) -> None:
    token = api.token(namespace, api.account(namespace))
    kubeconfig = kubeconfig_of(tmp_path, api, namespace, token)
    told = syncret("migrate", "--kubeconfig", kubeconfig)
    assert told.returncode == 3
    assert 'cannot list resource "secretstores"' in told.stderr
    assert "or to the user of the kubeconfig" in told.stderr


def test_what_helm_would_delete_is_told(api: KubeApi, namespace: str, kubeconfig: Path) -> None:
    install(api)
    path = f"{CRDS}/externalsecrets.external-secrets.io"
    api.request("PATCH", path, {"metadata": {"annotations": HELM}})
    try:
        _, report = migrate(kubeconfig, namespace)
        (advice,) = [each for each in report["advice"] if "helm uninstall eso" in each["what"]]
        assert "resource-policy=keep" in advice["commands"][0]
    finally:
        api.request("PATCH", path, {"metadata": {"annotations": dict.fromkeys(HELM)}})


def test_what_may_not_be_read_is_no_good_news(api: KubeApi, namespace: str, tmp_path: Path) -> None:
    everything = {"apiGroups": ["external-secrets.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    account = api.account(namespace, everything)
    path = api.kubeconfig(tmp_path / "kubeconfig", api.token(namespace, account))
    code, report = migrate(path, namespace, "--set", "process.clusterStore=false")
    assert (code, report["clean"]) == (1, False)
    assert any(each.startswith("Secret: ") for each in report["notLookedAt"])
    assert any(each.startswith("Deployments: ") for each in report["notLookedAt"])


def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    document: Document = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {}}],
    }
    path.write_text(json.dumps(document))
    told = syncret("migrate", "--kubeconfig", path)
    assert told.returncode == 3
    assert "Traceback" not in told.stderr


def test_it_fits_a_terminal_of_80_columns(api: KubeApi, namespace: str, kubeconfig: Path) -> None:
    cluster = Cluster(api, namespace)
    cluster.store(k="one")
    cluster.sync("an-external-secret-with-quite-a-long-name-for-a-table", target={"deletionPolicy": "Delete"})
    ours, theirs = pty.openpty()
    command = [str(SYNCRET), "migrate", "--kubeconfig", str(kubeconfig), "--namespace", namespace]
    process = subprocess.Popen(command, stdout=theirs, env=environment(COLUMNS="80", NO_COLOR="1"))
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    assert process.wait(60) == 1
    lines = shown.decode().replace("\r\n", "\n").splitlines()
    assert any("finalizers" in line for line in lines)
    assert max(map(len, lines)) <= 80, shown.decode()
