"""`status`, `explain` and `refresh` with a kubeconfig, as people with all rights and with few."""

import json
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from syncret.config.meta import Document
from tests.real.e2e.process import Daemon, daemon, syncret
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.running import ADMIN, KubeApi

pytestmark = pytest.mark.slow

GROUP = "external-secrets.io"
READS = {"apiGroups": [GROUP], "resources": ["externalsecrets"], "verbs": ["get", "list"]}
STARTED = {"app.kubernetes.io/name": "syncret"}
Ask = Callable[..., "subprocess.CompletedProcess[str]"]


def kubeconfig_of(folder: Path, api: KubeApi, namespace: str, token: str = ADMIN) -> Path:
    """The kubeconfig of a person, whose context names that namespace."""
    path = folder / f"kubeconfig-{len(list(folder.iterdir()))}"
    return api.kubeconfig(path, token, namespace=namespace)


def asked_by(kubeconfig: Path) -> Ask:
    """Commands of the person with that kubeconfig."""

    def ask(command: str, *words: str) -> "subprocess.CompletedProcess[str]":
        ran = syncret(command, "--kubernetes", *words, env={"KUBECONFIG": str(kubeconfig)})
        assert "Traceback" not in ran.stderr, ran.stderr
        return ran

    return ask


@pytest.fixture
def cluster(api: KubeApi, namespace: str) -> Cluster:
    """`e` can be synced, `bad` reads what is not there, the store of `far` lacks its credentials."""
    made = Cluster(api, namespace)
    made.store(k="one")
    login = {"tokenSecretRef": {"name": "vault-login", "key": "token"}}
    spec: Document = {"provider": {"vault": {"server": "https://vault.invalid", "auth": login}}}
    made.create("secretstores", "vault", spec)
    made.sync("e")
    made.sync("bad", key="missing")
    made.sync("far", secretStoreRef={"name": "vault"})
    return made


@pytest.fixture
def admin(tmp_path: Path, cluster: Cluster) -> Ask:
    return asked_by(kubeconfig_of(tmp_path, cluster.api, cluster.namespace))


@pytest.fixture
def few(tmp_path: Path, cluster: Cluster) -> Ask:
    """Who may see ExternalSecrets, and nothing else."""
    api, namespace = cluster.api, cluster.namespace
    token = api.token(namespace, api.account(namespace, READS))
    return asked_by(kubeconfig_of(tmp_path, api, namespace, token))


@pytest.fixture
def controller(tmp_path: Path, cluster: Cluster) -> Generator[Daemon]:
    """A daemon that has dealt with everything."""
    kubeconfig = kubeconfig_of(tmp_path, cluster.api, cluster.namespace)
    flags = ("--kubernetes", "--namespace", cluster.namespace, f"--set=kubeconfig={kubeconfig}")
    with daemon(tmp_path, None, *flags) as process:
        process.until(lambda: cluster.ready("e").get("status") == "True", "synced")
        for name in ("bad", "far"):
            process.until(lambda name=name: cluster.ready(name).get("status") == "False", name)  # type: ignore[misc]  # a lambda with a default
        process.until(lambda: _reasons(cluster) >= {"Created", "UpdateFailed", "Valid"}, "events")
        yield process


def _reasons(cluster: Cluster) -> set[str]:
    return {each["reason"] for each in (cluster.get("events", "") or {})["items"]}


@pytest.mark.usefixtures("controller")
def test_status_is_read_from_conditions_and_events(admin: Ask) -> None:
    shown = admin("status")
    assert shown.returncode == 1
    assert shown.stdout.splitlines()[0].endswith("3 failing")
    rows = {line.split()[2]: line for line in shown.stdout.splitlines()[3:]}
    assert rows["e"].split()[3] == "yes"
    assert rows["bad"].split()[3] == "NO"
    assert "spec.data[0]: missing does not exist in SecretStore/s" in rows["bad"]
    assert rows["bad"].count("missing does not exist") == 1

    document: dict[str, Any] = json.loads(admin("status", "-o", "json", "es/bad", "vault").stdout)
    assert document["kind"] == "ClusterStatus"
    assert [each["name"] for each in document["stores"]] == ["vault"]
    (bad,) = document["objects"]
    assert bad["lastFailure"]["hint"].startswith("correct the key")
    assert admin("status", "e").returncode == 0
    assert admin("status", "nothing").returncode == 1
    everywhere = admin("status", "-A", "-o", "json")
    assert bad["namespace"] in {each["namespace"] for each in json.loads(everywhere.stdout)["objects"]}


def test_a_namespace_that_is_none_is_said(admin: Ask) -> None:
    assert "there is no namespace nowhere" in admin("status", "-n", "nowhere").stdout


def test_the_due_time_is_the_one_of_the_process(admin: Ask, controller: Daemon, cluster: Cluster) -> None:
    told = json.loads(admin("explain", "es/e", "-o", "json").stdout)
    daemons = controller.status("e")
    assert told["next"]["at"] == daemons["nextDue"]
    (row,) = json.loads(admin("status", "e", "-o", "json").stdout)["objects"]
    assert {name: row[name] for name in ("ready", "lastGood", "nextDue", "lastFailure")} == {
        name: daemons[name] for name in ("ready", "lastGood", "nextDue", "lastFailure")
    }
    assert row["namespace"] == cluster.namespace


@pytest.mark.usefixtures("controller")
def test_explain_names_the_secret_that_is_missing(admin: Ask, cluster: Cluster) -> None:
    told = admin("explain", "es/far").stdout
    missing = f"Secret/{cluster.namespace}/vault-login is missing: SecretStore/{cluster.namespace}/vault"
    assert missing in told
    assert f"SecretStore/{cluster.namespace}/vault: not ready" in told
    assert "UpdateFailed" in told
    assert f"explain ExternalSecret/far -n {cluster.namespace}" in told
    assert "checked every 5m0s" in admin("explain", "ss/vault").stdout
    gone = admin("explain", "es/fra")
    assert gone.returncode == 1
    assert "did you mean far?" in gone.stderr


def test_the_command_for_the_process_names_the_active_pod(admin: Ask, cluster: Cluster, api: KubeApi) -> None:
    place = api.namespace()
    arguments = {
        "one": ["run", "--kubernetes"],
        "two": ["run", "--kubernetes"],
        "eso": ["--concurrent=1"],
        "hook": ["run", "--kubernetes", "--only", "webhook"],
    }
    for name, args in arguments.items():
        proxy = {"name": "proxy", "image": "none"}
        ours = {"name": "syncret", "image": "none", "args": args}
        pod: Document = {
            "metadata": {"name": name, "labels": STARTED},
            "spec": {"containers": [proxy, ours]},
        }
        api.create(f"/api/v1/namespaces/{place}/pods", pod)
        running = {"status": {"phase": "Running"}}
        api.request("PATCH", f"/api/v1/namespaces/{place}/pods/{name}/status", running)
    lease = {"metadata": {"name": "external-secrets-controller"}, "spec": {"holderIdentity": "two_x"}}
    api.create(f"/apis/coordination.k8s.io/v1/namespaces/{place}/leases", lease)
    try:
        told = admin("explain", "es/e").stdout
    finally:
        for name in arguments:
            api.request("DELETE", f"/api/v1/namespaces/{place}/pods/{name}", {"gracePeriodSeconds": 0})
    assert (
        f"kubectl exec -n {place} two -c syncret -- syncret explain ExternalSecret/e -n {cluster.namespace}"
        in told
    )


@pytest.mark.usefixtures("controller")
def test_refresh_waits_for_the_new_time(admin: Ask, cluster: Cluster) -> None:
    before = cluster.get("externalsecrets", "e") or {}
    done = admin("refresh", "es/e", "--wait", "-o", "json")
    assert done.returncode == 0, done.stderr
    after = cluster.get("externalsecrets", "e") or {}
    assert json.loads(done.stdout)["refreshTime"] == after["status"]["refreshTime"]
    synced = "syncedResourceVersion"
    assert after["status"][synced] != before["status"][synced]
    assert after["metadata"]["annotations"]["force-sync"] == json.loads(done.stdout)["value"]

    failed = admin("refresh", "es/bad", "--wait")
    assert failed.returncode == 1
    assert "missing does not exist" in failed.stderr
    assert admin("refresh", "ss/s").returncode == 0
    assert admin("refresh", "ss/s", "--wait").returncode == 2
    assert admin("refresh", "es/nothing").returncode == 1


def test_without_a_controller_waiting_ends(admin: Ask, cluster: Cluster) -> None:
    late = admin("refresh", "es/e", "--wait", "--timeout", "200ms")
    assert late.returncode == 1
    assert "not refreshed within 0.2 s" in late.stderr
    assert "force-sync" in (cluster.get("externalsecrets", "e") or {})["metadata"]["annotations"]


def test_what_was_created_once_is_not_asked_for_again(admin: Ask, cluster: Cluster) -> None:
    cluster.sync("once", refreshPolicy="CreatedOnce")
    path = cluster.path("externalsecrets", "once")
    cluster.api.request("PATCH", f"{path}/status", {"status": {"syncedResourceVersion": "1-x"}})
    refused = admin("refresh", "es/once")
    assert refused.returncode == 1
    assert "CreatedOnce" in refused.stderr
    assert "annotations" not in (cluster.get("externalsecrets", "once") or {})["metadata"]


def test_the_refresh_of_a_cluster_wide_one_travels(admin: Ask, cluster: Cluster) -> None:
    place = f"/apis/{GROUP}/v1/clusterexternalsecrets"
    name = f"all-{cluster.namespace}"
    spec: Document = {"externalSecretSpec": {"secretStoreRef": {"name": "s"}, "data": []}}
    api_version = f"{GROUP}/v1"
    made: Document = {
        "apiVersion": api_version,
        "kind": "ClusterExternalSecret",
        "metadata": {"name": name},
        "spec": spec,
    }
    cluster.api.create(place, made)
    try:
        assert admin("refresh", f"ces/{name}").returncode == 0
        annotations = (cluster.api.get(f"{place}/{name}") or {})["metadata"]["annotations"]
        assert list(annotations) == ["external-secrets.io/force-sync"]
    finally:
        cluster.api.request("DELETE", f"{place}/{name}")


@pytest.mark.usefixtures("controller")
def test_a_right_that_is_missing_is_named_and_the_rest_is_shown(few: Ask) -> None:
    shown = few("status")
    assert shown.returncode == 1
    assert "3 failing" not in shown.stdout
    assert " e " in shown.stdout
    for resource in ("secretstores", "pushsecrets", "events"):
        assert f'cannot list resource "{resource}"' in shown.stdout
    everywhere = few("status", "-A")
    assert everywhere.returncode == 3
    assert 'cannot list resource "clusterexternalsecrets"' in everywhere.stderr
    assert "ServiceAccount" not in everywhere.stderr.replace("system:serviceaccount", "")

    told = few("explain", "es/far")
    assert told.returncode == 0
    assert 'SecretStore "vault" is not ready' in told.stdout
    assert 'cannot get resource "secretstores"' in told.stdout
    assert 'cannot list resource "pods"' in told.stdout
    refused = few("refresh", "es/e")
    assert refused.returncode == 3
    assert 'cannot patch resource "externalsecrets"' in refused.stderr


def test_the_forms_of_a_kubeconfig(tmp_path: Path, cluster: Cluster) -> None:
    """Rights come from a certificate, from a program, from a file, or from who one acts as."""
    api, namespace = cluster.api, cluster.namespace
    account = api.account(namespace, READS)
    token = api.token(namespace, account)
    (tmp_path / "token").write_text(token)
    pair = api.certificate("someone", "system:masters")
    for name, content in {"client.crt": pair.certificate, "client.key": pair.key}.items():
        (tmp_path / name).write_bytes(content)
    credential = {
        "status": {"clientCertificateData": pair.certificate.decode(), "clientKeyData": pair.key.decode()}
    }
    (tmp_path / "credential").write_text(json.dumps(credential))
    expires = {"status": {"token": token, "expirationTimestamp": "2999-01-01T00:00:00Z"}}
    (tmp_path / "expires").write_text(json.dumps(expires))
    user = f"system:serviceaccount:{namespace}:{account}"
    path = kubeconfig_of(tmp_path, api, namespace)
    document = json.loads(path.read_text())
    forms: dict[str, tuple[Document, int]] = {
        "certificate": ({"client-certificate": "client.crt", "client-key": "client.key"}, 0),
        "program with a certificate": (
            {"exec": {"command": "cat", "args": [f"{tmp_path}/credential"]}},
            0,
        ),
        "program with a token": ({"exec": {"command": "cat", "args": [f"{tmp_path}/expires"]}}, 3),
        "file": ({"tokenFile": "token"}, 3),
        "another": ({"token": ADMIN, "as": user}, 3),
    }
    for name, (who, code) in forms.items():
        document["users"][0]["user"] = who
        path.write_text(json.dumps(document))
        assert asked_by(path)("status", "--failing").returncode == 0, name
        assert asked_by(path)("refresh", "es/e").returncode == code, name
    document["clusters"][0]["cluster"] |= {
        "server": api.url.replace("127.0.0.1", "localhost"),
        "tls-server-name": "127.0.0.1",
    }
    path.write_text(json.dumps(document))
    assert asked_by(path)("status", "--failing").returncode == 0
    del document["clusters"][0]["cluster"]["tls-server-name"]
    path.write_text(json.dumps(document))
    assert asked_by(path)("status").returncode == 3


def test_a_server_that_is_not_there(tmp_path: Path, api: KubeApi) -> None:
    path = kubeconfig_of(tmp_path, api, "default")
    document = json.loads(path.read_text())
    document["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    path.write_text(json.dumps(document))
    for words in (("status",), ("explain", "es/e"), ("refresh", "es/e")):
        ran = asked_by(path)(*words)
        assert ran.returncode == 3
        assert "127.0.0.1:1" in ran.stderr


def test_an_unknown_user(tmp_path: Path, api: KubeApi) -> None:
    ran = asked_by(kubeconfig_of(tmp_path, api, "default", "no-such-token"))("status")
    assert ran.returncode == 3
    assert "Unauthorized" in ran.stderr
    assert "no-such-token" not in ran.stderr
