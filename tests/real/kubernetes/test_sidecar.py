"""A sidecar in a cluster: `run --kubernetes --output-dir`, with nothing but the Role that it needs."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from syncret.config.manifests.loader import load_bytes
from syncret.config.meta import Document, member
from syncret.config.resources.kinds import DELIVERY
from tests.real.e2e.process import daemon, faces, files, syncret
from tests.real.kubernetes.test_engine import Cluster
from tests.suites.docs.pages import ROOT, blocks
from tests.support.relay import relay
from tests.support.servers.kube.crds import install_kinds
from tests.support.servers.kube.running import KubeApi, Request
from tests.support.servers.small_vault import small_vault

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "homes" / "sidecar.md"
LOGIN = "vault-login"
"""The Secret that the Role of the page lets it read."""

READ = ["get", "list", "watch"]
STATUSES = {
    "apiGroups": ["external-secrets.io"],
    "resources": ["externalsecrets/status", "secretstores/status"],
    "verbs": ["patch"],
}


DELIVERIES = {"apiGroups": ["syncret.dev"], "resources": ["deliveries"], "verbs": READ}
OF_DELIVERIES = {"apiGroups": ["syncret.dev"], "resources": ["deliveries/status"], "verbs": ["patch"]}


def shown(title: str) -> list[Document]:
    """The objects of a block of the page."""
    (block,) = [each for each in blocks(PAGE, "yaml") if each.title == title]
    loaded = load_bytes(str(block), block.text.encode())
    return [each.document for each in loaded if each.document is not None]


def rules() -> list[Document]:
    """Those of the Role on the page."""
    (role,) = [each for each in shown("sidecar-rbac.yaml") if each["kind"] == "Role"]
    found: list[Document] = role["rules"]
    return found


class Sidecar:
    """An account with these rights, and the command line of a daemon that has it."""

    def __init__(
        self, api: KubeApi, namespace: str, folder: Path, *rules: Document, port: int | None = None
    ) -> None:
        """`port` leads to the API server, if that is not its own."""
        self.api = api
        self.namespace = namespace
        self.account = api.account(namespace, *rules)
        self.kubeconfig = api.kubeconfig(
            folder / "pod.kubeconfig",
            api.token(namespace, self.account),
            url="" if port is None else f"https://127.0.0.1:{port}",
        )

    def flags(self, *more: str) -> Sequence[str]:
        where = ("--kubernetes", "--namespace", self.namespace, "--set", f"kubeconfig={self.kubeconfig}")
        return (*where, "--set", "rescanInterval=200ms", *more)

    @property
    def asked(self) -> Sequence[Request]:
        """What the API server was asked for."""
        return self.api.audited(self.namespace, self.account)

    def check(self, *written: str) -> None:
        """Nothing was denied, nothing but this was written, and Secrets were read by name alone."""
        asked = self.asked
        assert [each for each in asked if each.status in {401, 403}] == []
        assert {each.resource for each in asked if each.verb not in READ} == set(written)
        assert [each for each in asked if each.resource == "secrets" and each.verb != "get"] == []


def approle(vault_url: str) -> Document:
    """A store that logs in with a Secret."""
    role = {"path": "approle", "roleId": "role", "secretRef": {"name": LOGIN, "key": "id"}}
    spec = {"server": vault_url, "path": "kv", "version": "v2", "auth": {"appRole": role}}
    return {"provider": {"vault": spec}}


def login(cluster: Cluster, secret_id: str) -> None:
    """The Secret with which the store logs in."""
    path, document = cluster.path("secrets"), {"metadata": {"name": LOGIN}, "stringData": {"id": secret_id}}
    if cluster.get("secrets", LOGIN) is None:
        cluster.api.create(path, {"apiVersion": "v1", "kind": "Secret", **document})
    else:
        answer = cluster.api.request("PATCH", f"{path}/{LOGIN}", {"stringData": {"id": secret_id}})
        assert answer.status == 200, answer


def change(cluster: Cluster, kind: str, name: str, merge: Document) -> None:
    answer = cluster.api.request("PATCH", cluster.path(kind, name), merge)
    assert answer.status == 200, answer


def reading(cluster: Cluster, name: str, refresh: str = "1h", *, finalizers: Sequence[str] = ()) -> None:
    """An ExternalSecret whose value is another at each read."""
    data = [{"secretKey": "a", "remoteRef": {"key": "k", "property": "user"}}]
    cluster.sync(name, data=data, refreshInterval=refresh, finalizers=finalizers)


def test_files_follow_the_objects_and_nothing_is_written_to_the_api(
    tmp_path: Path, api: KubeApi, namespace: str
) -> None:
    cluster, out = Cluster(api, namespace), tmp_path / "out"
    sidecar = Sidecar(api, namespace, tmp_path, *rules())
    with small_vault() as vault:
        login(cluster, "right")
        cluster.create("secretstores", "s", approle(vault.url))
        reading(cluster, "first", "1s")
        reading(cluster, "still", finalizers=["example.com/of-another"])
        with daemon(tmp_path, None, *sidecar.flags("--output-dir", str(out))) as process:
            place = out / namespace
            assert sorted(files(out)) == [f"{namespace}/first/a", f"{namespace}/still/a"]
            assert (place / "first").stat().st_mode & 0o777 == 0o700
            assert (place / "first" / "a").stat().st_mode & 0o777 == 0o600
            still, first = faces(place / "still"), (place / "first" / "a").read_text()
            process.until(lambda: (place / "first" / "a").read_text() != first, "the new value")
            change(cluster, "externalsecrets", "first", {"spec": {"target": {"name": "moved"}}})
            process.until((place / "moved" / "a").exists, "the new target")
            process.until(lambda: not (place / "first").exists(), "the former one gone")
            reading(cluster, "late")
            process.until((place / "late" / "a").exists, "a new object")
            cluster.api.request("DELETE", cluster.path("externalsecrets", "late"))
            process.until(lambda: not (place / "late").exists(), "its end")
            assert faces(place / "still") == still
            assert process.get("/readyz") == "ok\n"
            assert process.stop() == 0
        assert (cluster.get("externalsecrets", "still") or {}).get("status") is None
        change(cluster, "externalsecrets", "still", {"metadata": {"finalizers": None}})
    sidecar.check()


def test_a_restart_with_nothing_due_calls_nobody_and_writes_nothing(
    tmp_path: Path, api: KubeApi, namespace: str
) -> None:
    cluster, out = Cluster(api, namespace), tmp_path / "out"
    sidecar = Sidecar(api, namespace, tmp_path, *rules())
    with small_vault() as vault:
        login(cluster, "right")
        cluster.create("secretstores", "s", approle(vault.url))
        for name in ("one", "two", "three"):
            reading(cluster, name)
        flags = sidecar.flags("--output-dir", str(out))
        with daemon(tmp_path, None, *flags) as process:
            assert len(files(out)) == 3
            assert process.stop() == 0
        before, reads = faces(out), len(vault.reads)
        cluster.api.request("DELETE", cluster.path("externalsecrets", "three"))
        with daemon(tmp_path, None, *flags) as process:
            process.until(lambda: not (out / namespace / "three").exists(), "deleted meanwhile")
            assert process.stop() == 0
        assert {name: each for name, each in faces(out).items() if "/" in name} == {
            name: each for name, each in before.items() if "/" in name and "three" not in name
        }
        assert len(vault.reads) == reads
    sidecar.check()


def test_a_rotated_credential_is_used(tmp_path: Path, api: KubeApi, namespace: str) -> None:
    cluster, out = Cluster(api, namespace), tmp_path / "out"
    sidecar = Sidecar(api, namespace, tmp_path, *rules())
    with small_vault() as vault:
        login(cluster, "right")
        cluster.create("secretstores", "s", approle(vault.url))
        reading(cluster, "e", "1s")
        with daemon(tmp_path, None, *sidecar.flags("--output-dir", str(out))) as process:
            vault.secret_id = "rotated"  # of the test
            vault.revoke_all()
            login(cluster, "rotated")
            process.until(lambda: len(vault.logins) > 1, "another login")
            value = (out / namespace / "e" / "a").read_text()
            process.until(lambda: (out / namespace / "e" / "a").read_text() != value, "read with it")
            assert process.stop() == 0
    sidecar.check()


def test_deliveries_of_the_namespace_are_carried_out_and_run_nothing(
    tmp_path: Path, api: KubeApi, namespace: str
) -> None:
    install_kinds(api, (DELIVERY,))
    cluster, out, place = Cluster(api, namespace), tmp_path / "out", tmp_path / "delivered"
    sidecar = Sidecar(api, namespace, tmp_path, *rules(), DELIVERIES)
    cluster.store(k="one")
    cluster.sync("e")
    to = [{"directory": {"path": str(place / "files"), "layout": "links"}}]
    place.mkdir(mode=0o755)
    cluster.create("deliveries", "files", {"sources": [{"secret": "e"}], "to": to})
    reload = {"exec": ["/usr/bin/touch", str(place / "ran")]}
    other = [{"directory": {"path": str(place / "other")}}]
    cluster.create("deliveries", "runs", {"sources": [{"secret": "e"}], "to": other, "reload": reload})
    flags = sidecar.flags("--output-dir", str(out), "--set", "deliveriesFromApi=true")
    with daemon(tmp_path, None, *flags) as process:
        process.until(lambda: (place / "files" / "a").read_text() == "one", "what is delivered")
        process.said("spec.reload: not run: no file of this host defines the Delivery")
        assert not (place / "other").exists()
        cluster.api.request("DELETE", cluster.path("deliveries", "runs"))
        assert (cluster.get("deliveries", "files") or {}).get("status") is None
        assert process.stop() == 0
    sidecar.check()
    reporting = Sidecar(api, namespace, tmp_path, *rules(), STATUSES, DELIVERIES, OF_DELIVERIES)
    allowed = ("--set", "commandsFromApi=true", "--set", "reportStatus=true")
    cluster.create("deliveries", "tells", {"sources": [{"secret": "e"}], "to": other, "reload": reload})
    more = reporting.flags("--output-dir", str(out), "--set", "deliveriesFromApi=true", *allowed)
    with daemon(tmp_path, None, *more) as process:
        process.until((place / "ran").exists, "the program, which is allowed now")

        def ready() -> bool:
            status = member(cluster.get("deliveries", "tells") or {}, "status")
            return any(each["reason"] == "Delivered" for each in status.get("conditions", []))

        process.until(ready, "its status")
        assert process.stop() == 0


def test_a_status_is_reported_where_that_is_asked_for(tmp_path: Path, api: KubeApi, namespace: str) -> None:
    cluster, out = Cluster(api, namespace), tmp_path / "out"
    sidecar = Sidecar(api, namespace, tmp_path, *rules(), STATUSES)
    cluster.store(k="one")
    cluster.sync("e")
    cluster.sync("bad", key="missing")
    flags = sidecar.flags("--output-dir", str(out), "--set", "reportStatus=true")
    with daemon(tmp_path, None, *flags) as process:
        process.until(lambda: cluster.ready("e").get("status") == "True", "the success")
        process.until(lambda: cluster.ready("bad").get("status") == "False", "the failure")
        change(cluster, "externalsecrets", "e", {"spec": {"refreshInterval": "2h"}})

        def synced() -> str:
            status = member(cluster.get("externalsecrets", "e") or {}, "status")
            return str(status.get("syncedResourceVersion", ""))

        process.until(lambda: synced().startswith("2-"), "the version that the API server counts")
        store = cluster.get("secretstores", "s") or {}
        process.until(lambda: member(cluster.get("secretstores", "s") or {}, "status"), "that of the store")
        assert store["metadata"].get("finalizers") is None
        assert process.stop() == 0
    sidecar.check("externalsecrets/status", "secretstores/status")
    assert cluster.get("secrets", "e") is None
    assert (cluster.get("events", "") or {})["items"] == []


def test_what_a_sidecar_may_not_do_is_refused_with_a_hint(
    tmp_path: Path, api: KubeApi, namespace: str
) -> None:
    cluster, out = Cluster(api, namespace), tmp_path / "out"
    sidecar = Sidecar(api, namespace, tmp_path, *rules())
    cluster.store(k="one")
    cluster.sync("e")
    generator = {"kind": "Password", "name": "p"}
    cluster.sync("drawn", data=[], dataFrom=[{"sourceRef": {"generatorRef": generator}}])
    cluster.sync("shared", secretStoreRef={"kind": "ClusterSecretStore", "name": "all"})
    with daemon(tmp_path, None, *sidecar.flags("--output-dir", str(out))) as process:
        told = {(each["message"].partition(":")[0], bool(each["hint"])) for each in process.problems()}
        assert told == {
            ("a sidecar does not generate", True),
            ('a sidecar reads its own namespace alone, and not ClusterSecretStore "all"', True),
        }
        assert sorted(files(out)) == [f"{namespace}/e/a"]
        assert process.stop() == 0
    sidecar.check()


def test_labels_choose(tmp_path: Path, api: KubeApi, namespace: str) -> None:
    cluster, out = Cluster(api, namespace), tmp_path / "out"
    sidecar = Sidecar(api, namespace, tmp_path, *rules())
    cluster.store(k="one")
    cluster.sync("other")
    cluster.sync("mine")
    change(cluster, "externalsecrets", "mine", {"metadata": {"labels": {"app": "shop"}}})
    flags = sidecar.flags("--output-dir", str(out), "--selector", "app in (shop,web)")
    with daemon(tmp_path, None, *flags) as process:
        assert sorted(files(out)) == [f"{namespace}/mine/a"]
        change(cluster, "externalsecrets", "other", {"metadata": {"labels": {"app": "web"}}})
        process.until((out / namespace / "other").exists, "another that is chosen now")
        change(cluster, "externalsecrets", "mine", {"metadata": {"labels": None}})
        process.until(lambda: not (out / namespace / "mine").exists(), "one that is chosen no longer")
        assert process.stop() == 0
    sidecar.check()


def test_what_keeps_a_sidecar_from_starting_is_said(tmp_path: Path, api: KubeApi, namespace: str) -> None:
    where = ("--output-dir", str(tmp_path / "out"), "--state", str(tmp_path / "state.db"))
    nowhere = syncret("run", "--kubernetes", *where)
    assert nowhere.returncode == 2
    assert "none is named" in nowhere.stderr
    assert "--namespace" in nowhere.stderr
    powerless = Sidecar(api, namespace, tmp_path)
    listen = ("--listen", "", "--set", "socket=")
    denied = syncret("run", *powerless.flags(*where, *listen))
    assert denied.returncode == 3
    assert "forbidden" in denied.stderr
    assert "get, list and watch" in denied.stderr
    assert not (tmp_path / "out" / namespace).exists()


def test_without_the_api_server_files_stay_and_are_refreshed(
    tmp_path: Path, api: KubeApi, namespace: str
) -> None:
    cluster, out = Cluster(api, namespace), tmp_path / "out"
    with small_vault() as vault, relay(int(api.url.rpartition(":")[2])) as way:
        sidecar = Sidecar(api, namespace, tmp_path, *rules(), port=way.port)
        login(cluster, "right")
        cluster.create("secretstores", "s", approle(vault.url))
        reading(cluster, "often", "1s")
        reading(cluster, "still")
        flags = sidecar.flags("--output-dir", str(out))
        value = out / namespace / "often" / "a"
        with daemon(tmp_path, None, *flags) as process:
            way.goes_away()
            process.until(lambda: any(each["file"] == "API server" for each in process.problems()), "said")
            reads, before = len(vault.reads), value.read_text()
            process.until(lambda: int(value.read_text()) >= int(before) + 2, "refreshed without it")
            assert vault.reads[reads:].count("k") <= int(value.read_text()) - int(before) + 2
            assert process.get("/readyz") == "ok\n"
            assert process.stop() == 0
        still, reads = faces(out / namespace / "still"), len(vault.reads)
        with daemon(tmp_path, None, *flags) as process:
            assert sorted(files(out)) == [f"{namespace}/often/a", f"{namespace}/still/a"]
            way.comes_back()
            reading(cluster, "late")
            process.until((out / namespace / "late" / "a").exists, "followed again")
            assert faces(out / namespace / "still") == still
            process.until(lambda: not process.problems(), "all is well")
            assert process.stop() == 0
    sidecar.check()


def test_the_pod_of_the_page_runs_what_it_says(tmp_path: Path) -> None:
    (pod,) = shown("sidecar-pod.yaml")
    (container,) = pod["spec"]["initContainers"]
    env = {each["name"]: each["value"] for each in container["env"]}
    nowhere = syncret(*container["args"], "--set", f"kubeconfig={tmp_path}/none", env=env)
    assert nowhere.returncode == 3
    assert f"{tmp_path}/none" in nowhere.stderr
    volumes = {each["name"] for each in pod["spec"]["volumes"] if each["emptyDir"] == {"medium": "Memory"}}
    assert {each["name"] for each in container["volumeMounts"]} <= volumes


def test_accounts_and_authorities_are_used_by_name(tmp_path: Path, api: KubeApi, namespace: str) -> None:
    cluster, out = Cluster(api, namespace), tmp_path / "out"
    reader = api.account(
        namespace,
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]},
        {
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectrulesreviews", "selfsubjectaccessreviews"],
            "verbs": ["create"],
        },
    )
    by_name = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["ca"], "verbs": ["get"]}
    token = {"resources": ["serviceaccounts/token"], "resourceNames": [reader], "verbs": ["create"]}
    sidecar = Sidecar(api, namespace, tmp_path, *rules(), by_name, {"apiGroups": [""], **token})
    place = f"/api/v1/namespaces/{namespace}/configmaps"
    ca = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ca"}}
    api.create(place, {**ca, "data": {"ca.crt": api.ca.decode()}})
    source = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "k"}, "stringData": {"user": "one"}}
    api.create(cluster.path("secrets"), source)
    server = {"url": api.url, "caProvider": {"type": "ConfigMap", "name": "ca", "key": "ca.crt"}}
    spec = {"server": server, "remoteNamespace": namespace, "auth": {"serviceAccount": {"name": reader}}}
    cluster.create("secretstores", "s", {"provider": {"kubernetes": spec}})
    reading(cluster, "e")
    with daemon(tmp_path, None, *sidecar.flags("--output-dir", str(out))) as process:
        assert (out / namespace / "e" / "a").read_text() == "one"
        assert process.stop() == 0
    sidecar.check("serviceaccounts/token")
