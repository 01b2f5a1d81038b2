"""A release on a real API server: applied, synced from Vault, rotated; and a value that is held back."""

import json
from base64 import b64decode
from pathlib import Path

import pytest

from syncret.config.meta import Document, member
from tests.real.e2e.process import daemon, syncret
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.kubectl import kubectl
from tests.support.servers.kube.running import KubeApi
from tests.support.servers.vault.running import ROOT_TOKEN, vault

pytestmark = pytest.mark.slow

FIELDS = 30
API_VERSION = "syncret.dev/v1alpha1"
FIRST, SECOND, SHORT = ("first-value-{}", "second-value-{}", "short")


def leaf(number: int) -> Document:
    return {
        "$opm": "secret",
        "$secretName": f"creds-{number % 3}",
        "$dataKey": f"key-{number}",
        "$constraints": {"minRunes": 10},
    }


def fulfilment(number: int) -> Document:
    """Ten are literals, which go to a Secret of their own; twenty stand in Vault."""
    if number % 3 == 0:
        return {"value": FIRST.format(number)}
    return {"source": "k8s-eso", "path": "app", "remoteKey": f"p{number}"}


def documents(namespace: str) -> list[Document]:
    container = {
        "image": "registry.example/app:1",
        "env": {f"KEY_{number}": {"from": f"config.f{number}"} for number in range(FIELDS)},
    }
    config = {f"f{number}": leaf(number) for number in range(FIELDS)}
    values = {f"f{number}": fulfilment(number) for number in range(FIELDS)}
    return [
        {"kind": "Module", "metadata": {"name": "app"}, "spec": {"config": config, "container": container}},
        {
            "kind": "Release",
            "metadata": {"name": "prod", "namespace": namespace},
            "spec": {"values": values},
        },
        {
            "kind": "Platform",
            "spec": {"refreshInterval": "1s", "secretStoreRef": {"name": "s", "kind": "SecretStore"}},
        },
    ]


def test_a_release_in_a_cluster(tmp_path: Path, kubeconfig: Path, api: KubeApi, namespace: str) -> None:
    cluster, server = Cluster(api, namespace), vault()
    mount = server.mount(version="2")

    def stored(template: str, **changed: str) -> None:
        values = {f"p{number}": template.format(number) for number in range(FIELDS)}
        server.write(f"{mount}/data/app", data=values | changed)

    def live(name: str) -> dict[str, str]:
        data: dict[str, str] = (cluster.get("secrets", name) or {}).get("data", {})
        return {key: b64decode(value).decode() for key, value in data.items()}

    def wanted(group: int, template: str) -> dict[str, str]:
        return {f"key-{number}": template.format(number) for number in range(FIELDS) if number % 3 == group}

    def condition(kind: str, name: str = "creds-1") -> Document:
        found = cluster.get("externalsecrets", name) or Document()
        conditions: list[Document] = member(found, "status").get("conditions", [])
        return next((each for each in conditions if each["type"] == kind), Document())

    stored(FIRST)
    login = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"t": ROOT_TOKEN}}
    api.create(cluster.path("secrets"), login)
    auth = {"tokenSecretRef": {"name": "t", "key": "t"}}
    spec = {"server": server.url, "path": mount, "version": "v2", "auth": auth}
    cluster.create("secretstores", "s", {"provider": {"vault": spec}})
    release = tmp_path / "release"
    release.mkdir()
    for document in documents(namespace):
        path = release / f"{document['kind']}.json"
        path.write_text(json.dumps({"apiVersion": API_VERSION, **document}))
    rendered = syncret("release", "-f", release, "--show-values")
    assert rendered.returncode == 0, rendered.stderr
    kubectl(api, "apply", "-f", "-", documents=rendered.stdout)
    assert live("creds-0") == wanted(0, FIRST)
    assert (
        kubectl(api, "get", "deployment", "prod", "-n", namespace, "-o", "name") == "deployment.apps/prod\n"
    )
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={kubeconfig}")
    with daemon(tmp_path, None, *flags) as process:
        for group in (1, 2):
            expected = wanted(group, FIRST)
            process.until(lambda: live(f"creds-{group}") == expected, "synced")  # noqa: B023  # asked at once
        process.until(lambda: condition("ConstraintsSatisfied").get("status") == "True", "the verdict")
        stored(SECOND)
        process.until(lambda: live("creds-1") == wanted(1, SECOND), "rotated")
        stored("third-value-{}", p4=SHORT)
        process.until(lambda: condition("ConstraintsSatisfied").get("status") == "False", "the violation")
        assert condition("ConstraintsSatisfied")["message"] == "violated: key-4: minRunes"
        ready = condition("Ready")
        assert (ready["status"], ready["reason"]) == ("False", "SecretSyncedError")
        process.until(lambda: live("creds-2") == wanted(2, "third-value-{}"), "the other group rotated")
        assert live("creds-1") == wanted(1, SECOND)
        told = process.status("creds-1")
        assert told["ready"] is False
        assert "key-4: minRunes" in told["lastFailure"]["message"]
        explained = process.ask("explain", "es/creds-1", "-n", namespace).stdout
        assert "violated: key-4: minRunes" in explained
        assert "syncret_constraints_violated 1" in process.get("/metrics")
        stored("fourth-value-{}")
        process.until(lambda: live("creds-1") == wanted(1, "fourth-value-{}"), "mended")
        assert process.stop() == 0
        assert SHORT not in process.stderr
