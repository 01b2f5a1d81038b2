"""`plan --kubernetes` on live objects: what is told, what is not known from here; nothing is written."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from syncret.config.meta import Document
from tests.real.e2e.process import daemon
from tests.real.kubernetes.test_commands import Ask, asked_by, kubeconfig_of
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

API = "external-secrets.io/v1"
ALL = {"apiGroups": ["external-secrets.io"], "resources": ["*"], "verbs": ["*"]}
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}
READS = {"apiGroups": ["external-secrets.io"], "resources": ["*"], "verbs": ["get", "list"]}


def external_secret(name: str, keys: Document, store: str = "s", **spec: object) -> Document:
    data = [{"secretKey": key, "remoteRef": {"key": remote}} for key, remote in keys.items()]
    return {
        "apiVersion": API,
        "kind": "ExternalSecret",
        "metadata": {"name": name},
        "spec": {"refreshInterval": "1h", "secretStoreRef": {"name": store}, "data": data, **spec},
    }


def store(name: str, provider: Document) -> Document:
    spec = {"provider": provider}
    return {"apiVersion": API, "kind": "SecretStore", "metadata": {"name": name}, "spec": spec}


def fake(**values: str) -> Document:
    return {"fake": {"data": [{"key": key, "value": value} for key, value in values.items()]}}


@pytest.fixture
def cluster(tmp_path: Path, api: KubeApi, namespace: str) -> Cluster:
    """`e` has been synced: key `a` from `k`."""
    made = Cluster(api, namespace)
    made.store(k="sesame-one", l="sesame-two")
    made.sync("e")
    kubeconfig = kubeconfig_of(tmp_path, api, namespace)
    flags = ("--kubernetes", "--namespace", namespace, f"--set=kubeconfig={kubeconfig}")
    with daemon(tmp_path, None, *flags) as process:
        process.until(lambda: made.ready("e").get("status") == "True", "synced")
    return made


class Author:
    """A person with some rights, who plans files."""

    def __init__(self, folder: Path, cluster: Cluster, *rules: Document) -> None:
        self.folder = folder
        self.cluster = cluster
        api, namespace = cluster.api, cluster.namespace
        self.account = api.account(namespace, *rules)
        token = api.token(namespace, self.account)
        self.ask: Ask = asked_by(kubeconfig_of(folder, api, namespace, token))

    def plan(self, *documents: Document, code: int = 0) -> tuple[dict[str, Any], str]:
        """The plan as JSON and as text."""
        path = self.folder / "new.yaml"
        path.write_text(yaml.safe_dump_all(documents))
        text = self.ask("plan", "-f", str(path))
        assert text.returncode == code, text.stdout + text.stderr
        found = self.ask("plan", "-f", str(path), "-o", "json")
        for each in (text, found):
            assert "sesame" not in each.stdout + each.stderr
            assert "c2VzYW1l" not in each.stdout + each.stderr, "not in base64 either"
        self.check_reads_only()
        return json.loads(found.stdout), text.stdout

    def check_reads_only(self) -> None:
        """What the API server has written down of this person."""
        asked = self.cluster.api.audited(self.cluster.namespace, self.account)
        assert asked
        wrote = [each for each in asked if each.verb not in {"get", "list"} and "dryRun=All" not in each.uri]
        assert wrote == []


@pytest.fixture
def author(tmp_path: Path, cluster: Cluster) -> Author:
    return Author(tmp_path, cluster, ALL, SECRETS)


def test_keys_that_would_be_added_changed_and_kept(author: Author, cluster: Cluster) -> None:
    plan, text = author.plan(external_secret("e", {"a": "l", "b": "k"}), external_secret("new", {"x": "k"}))
    place = cluster.namespace
    assert [(each["action"], each["object"]) for each in plan["objects"]] == [
        ("update", f"ExternalSecret/{place}/e"),
        ("create", f"ExternalSecret/{place}/new"),
    ]
    assert plan["changes"] == [
        {"action": "update", "object": f"Secret/{place}/e", "added": ["b"], "changed": ["a"], "removed": []},
        {"action": "create", "object": f"Secret/{place}/new", "added": ["x"], "changed": [], "removed": []},
    ]
    assert {each["store"] for each in plan["calls"]} == {f"SecretStore/{place}/s"}
    assert f"~ Secret/{place}/e\n    + b\n    ~ a\n" in text
    assert (cluster.get("secrets", "e") or {})["data"] == {"a": "c2VzYW1lLW9uZQ=="}
    assert cluster.get("secrets", "new") is None


def test_what_is_as_it_is_stays_so(author: Author, cluster: Cluster) -> None:
    plan, text = author.plan(external_secret("e", {"a": "k"}))
    assert [each["action"] for each in plan["objects"]] == ["unchanged"]
    assert plan["changes"] == []
    assert "nothing would change" in text
    assert plan["unchanged"] == [{"object": f"Secret/{cluster.namespace}/e", "keys": ["a"]}]


def test_a_target_of_another_name_lets_the_old_one_go(author: Author, cluster: Cluster) -> None:
    plan, _ = author.plan(external_secret("e", {"a": "k"}, target={"name": "other"}))
    assert {(each["action"], each["object"]) for each in plan["changes"]} == {
        ("create", f"Secret/{cluster.namespace}/other"),
        ("delete", f"Secret/{cluster.namespace}/e"),
    }


def test_a_store_that_changes_concerns_who_uses_it(author: Author, cluster: Cluster) -> None:
    plan, _ = author.plan(store("s", fake(k="sesame-three", l="x")))
    assert [each["action"] for each in plan["objects"]] == ["update"]
    assert plan["changes"] == [
        {
            "action": "update",
            "object": f"Secret/{cluster.namespace}/e",
            "added": [],
            "changed": ["a"],
            "removed": [],
        }
    ]


def test_a_new_store_and_who_uses_it(author: Author, cluster: Cluster) -> None:
    plan, _ = author.plan(external_secret("new", {"x": "k"}, store="new"), store("new", fake(k="sesame")))
    assert [each["object"] for each in plan["changes"]] == [f"Secret/{cluster.namespace}/new"]
    assert plan["failures"] == []


def test_what_the_server_refuses_is_said(author: Author, cluster: Cluster) -> None:
    broken = external_secret("bad", {"x": "k"}, refreshPolicy="Sometimes")
    plan, text = author.plan(broken, code=2)
    (refused,) = plan["objects"]
    assert refused["action"] == "refused"
    assert "spec.refreshPolicy" in refused["message"]
    assert f"! ExternalSecret/{cluster.namespace}/bad" in text


def test_a_name_that_is_no_text_is_said(author: Author) -> None:
    wrong = external_secret("e", {"a": "k"}) | {"metadata": {"name": 5}}
    plan, _ = author.plan(wrong, external_secret("e", {"a": "k"}), code=2)
    assert [each["action"] for each in plan["objects"]] == ["unchanged"]
    assert [(each["path"], each["line"] > 0) for each in plan["invalid"]] == [("metadata.name", True)]


def test_what_would_fail_is_said(author: Author) -> None:
    plan, text = author.plan(external_secret("new", {"x": "gone"}), code=1)
    (failure,) = plan["failures"]
    assert "gone does not exist in SecretStore/s" in failure["message"]
    assert "! ExternalSecret" in text


def test_the_identity_of_the_pod_is_not_that_of_the_author(author: Author, cluster: Cluster) -> None:
    own = {"vault": {"server": "http://127.0.0.1:1", "auth": {"kubernetes": {"role": "r", "mountPath": "k"}}}}
    account = {
        "vault": {
            "server": "http://127.0.0.1:1",
            "auth": {
                "kubernetes": {"role": "r", "mountPath": "k", "serviceAccountRef": {"name": author.account}}
            },
        }
    }
    plan, text = author.plan(
        store("own", own), external_secret("new", {"x": "k"}, store="own"), store("account", account)
    )
    place = cluster.namespace
    unknown = {each["object"]: each["message"] for each in plan["unknown"]}
    assert unknown.keys() == {
        f"SecretStore/{place}/own",
        f"SecretStore/{place}/account",
        f"ExternalSecret/{place}/new",
    }
    assert all("not known from here" in message for message in unknown.values())
    assert plan["failures"] == []
    assert "? SecretStore" in text


def test_who_may_not_write_is_told_by_rules_of_ours(tmp_path: Path, cluster: Cluster) -> None:
    reader = Author(tmp_path, cluster, READS, SECRETS)
    plan, text = reader.plan(external_secret("e", {"a": "l"}))
    assert [(each["action"], each["tried"]) for each in plan["objects"]] == [("update", False)]
    assert [each["changed"] for each in plan["changes"]] == [["a"]]
    assert any('cannot patch resource "externalsecrets"' in each["message"] for each in plan["problems"])
    assert "the API server was not asked" in text


def test_who_may_not_read_secrets_is_told_what_is_not_known(tmp_path: Path, cluster: Cluster) -> None:
    nobody = Author(tmp_path, cluster, ALL)
    plan, _ = nobody.plan(external_secret("e", {"a": "l"}))
    assert [each["object"] for each in plan["unknown"]] == [f"ExternalSecret/{cluster.namespace}/e"]
    assert plan["changes"] == []
    assert any('cannot get resource "secrets"' in each["message"] for each in plan["problems"])


def test_who_may_read_nothing_is_not_told_that_it_would_be_created(tmp_path: Path, cluster: Cluster) -> None:
    plan, text = Author(tmp_path, cluster).plan(external_secret("e", {"a": "l"}))
    assert [(each["action"], each["tried"]) for each in plan["objects"]] == [("unknown", False)]
    assert f"? ExternalSecret/{cluster.namespace}/e" in text


def test_a_generator_makes_nothing_elsewhere_and_a_password_is_drawn_here(
    author: Author, cluster: Cluster
) -> None:
    password = {
        "apiVersion": "generators.external-secrets.io/v1alpha1",
        "kind": "Password",
        "metadata": {"name": "p"},
        "spec": {"length": 12, "noUpper": False, "allowRepeat": True},
    }
    drawn = external_secret(
        "new", {}, dataFrom=[{"sourceRef": {"generatorRef": {"kind": "Password", "name": "p"}}}]
    )
    del drawn["spec"]["data"]
    del drawn["spec"]["secretStoreRef"]
    generators = {"apiGroups": ["generators.external-secrets.io"], "resources": ["*"], "verbs": ["*"]}
    more = Author(author.folder, cluster, ALL, SECRETS, generators)
    plan, _ = more.plan(password, drawn)
    assert [each["added"] for each in plan["changes"]] == [["password"]]


def test_a_cluster_store_asks_for_the_labels_of_the_namespace(author: Author, cluster: Cluster) -> None:
    place = "/apis/external-secrets.io/v1/clustersecretstores"
    name = f"css-{cluster.namespace}"
    labels = {"matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}}
    spec: Document = {"provider": fake(k="sesame"), "conditions": [{"namespaceSelector": labels}]}
    metadata = {"name": name}
    made: Document = {"apiVersion": API, "kind": "ClusterSecretStore", "metadata": metadata, "spec": spec}
    cluster.api.create(place, made)
    ready = {"conditions": [{"type": "Ready", "status": "True", "reason": "Valid"}]}
    cluster.api.request("PATCH", f"{place}/{name}/status", {"status": ready})
    reference = {"kind": "ClusterSecretStore", "name": name}
    wanted = external_secret("new", {"x": "k"}, secretStoreRef=reference)
    try:
        few, _ = author.plan(wanted, code=0)
        reads = {"resources": ["clustersecretstores"], "apiGroups": ["external-secrets.io"], "verbs": ["get"]}
        spaces = {"resources": ["namespaces"], "apiGroups": [""], "verbs": ["get"]}
        account = cluster.api.account(cluster.namespace, ALL, SECRETS, reads, spaces, everywhere=True)
        token = cluster.api.token(cluster.namespace, account)
        kubeconfig = kubeconfig_of(author.folder, cluster.api, cluster.namespace, token)
        all_ = asked_by(kubeconfig)("plan", "-f", str(author.folder / "new.yaml"), "-o", "json")
    finally:
        cluster.api.request("DELETE", f"{place}/{name}")
    assert [each["object"] for each in few["unknown"]] == [f"ExternalSecret/{cluster.namespace}/new"]
    assert [each["added"] for each in json.loads(all_.stdout)["changes"]] == [["x"]]


def test_flags_of_hosts_are_refused(author: Author) -> None:
    assert author.ask("plan", "-f", "x.yaml", "--output-dir", "out").returncode == 2
    assert author.ask("plan").returncode == 2
