"""A cluster that the operator has filled is taken over, and nothing but the reports of it moves."""

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec import structs

from syncret.config.meta import Document, member
from syncret.daemon.install.installation import Installation
from tests.real.differential.estate import NAMESPACES, estate, namespaces
from tests.real.e2e.process import Daemon, daemon, syncret, until
from tests.real.kubernetes.installed import place
from tests.real.kubernetes.test_installation import account_with, rights
from tests.support.servers.eso.running import can_elect, operator
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import KubeApi, Request
from tests.support.servers.small_vault import SmallVault, small_vault

pytestmark = [pytest.mark.slow, pytest.mark.differential]

HOME = "external-secrets"
WANTED = Installation(image="registry.example/syncret:1", namespace=HOME, replicas=2)
KINDS = (
    "ExternalSecret",
    "PushSecret",
    "SecretStore",
    "ClusterSecretStore",
    "ClusterExternalSecret",
    "ClusterPushSecret",
)
SETTLED = 180.0
WRITES = {"create", "update", "patch", "delete", "deletecollection"}


def every(api: KubeApi, kind: str) -> Sequence[Document]:
    found = api.get(place(kind)) or {}
    return list(found.get("items", ()))


def is_ready(document: Document) -> bool:
    conditions: list[Document] = member(document, "status").get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def waiting(api: KubeApi) -> Iterator[str]:
    for kind in KINDS:
        objects = every(api, kind)
        yield from (f"{kind} {each['metadata']['name']}" for each in objects if not is_ready(each))


def fill(api: KubeApi, vault: SmallVault) -> None:
    for document in (*namespaces(), *estate(vault.url)):
        metadata = document["metadata"]
        kind = document["kind"]
        path = "/api/v1/namespaces" if kind == "Namespace" else path_of(kind, metadata.get("namespace", ""))
        api.create(path, document)


def path_of(kind: str, namespace: str) -> str:
    if kind == "Password":
        return f"/apis/generators.external-secrets.io/v1alpha1/namespaces/{namespace}/passwords"
    return place(kind, namespace)


@pytest.fixture(scope="module")
def vault() -> Generator[SmallVault]:
    """A Vault whose values are others at each read."""
    with small_vault() as served:
        yield served


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, vault: SmallVault) -> Generator[KubeApi]:
    """The cluster after the operator has synced all of it, and was stopped."""
    api = KubeApi()
    try:
        install(api)
        api.create("/api/v1/namespaces", {"metadata": {"name": HOME}})
        with operator(api, tmp_path_factory.mktemp("operator")):
            fill(api, vault)
            until(lambda: len(every(api, "ExternalSecret")) >= 175, "all children", SETTLED, every=0.5)
            until(lambda: not list(waiting(api)), "in sync", SETTLED, every=0.5)
        yield api
    finally:
        api.stop()


def snapshot(api: KubeApi) -> dict[str, str]:
    """The versions of everything that must not move."""
    return {
        f"{kind} {each['metadata'].get('namespace')}/{each['metadata']['name']}": each["metadata"][
            "resourceVersion"
        ]
        for kind in ("Secret", "ConfigMap", *KINDS)
        for each in every(api, kind)
    }


def test_nothing_would_change_and_nothing_does(filled: KubeApi, vault: SmallVault, tmp_path: Path) -> None:
    api = filled
    documents = rights(WANTED)
    token = account_with(api, WANTED, documents)
    config = api.kubeconfig(tmp_path / "kubeconfig", token, namespace=HOME)
    before, asked_before = snapshot(api), (len(vault.reads), len(vault.logins))
    assert len(before) >= 200
    assert asked_before[0] >= len(NAMESPACES)

    told = syncret("migrate", "--kubeconfig", config, "-o", "json")
    report = json.loads(told.stdout)
    assert report["changes"] == [], told.stdout
    assert report["due"] == sorted(f"ExternalSecret/{each}/none" for each in NAMESPACES)
    assert report["undecided"] == []
    assert report["objects"] >= 180
    shown = syncret("migrate", "--kubeconfig", config)
    assert shown.returncode == told.returncode == 0, shown.stdout
    assert "clean: a takeover changes nothing" in shown.stdout
    assert snapshot(api) == before, "migrate writes nothing"

    asked = len(api.audited(HOME, WANTED.account))
    flags = ("--kubernetes", "--set", f"kubeconfig={config}", "--enable-leader-election")
    with daemon(tmp_path, None, *flags, "--set", "observe=true", POD_NAMESPACE=HOME) as process:
        process.until(lambda: process.metric("syncret_first_pass_seconds") > 0, "looked at everything")
        assert process.status_document()["observing"] == "the setting observe is on"
        assert process.metric("syncret_observed_writes") == 0
        assert process.stop() == 0
    since = api.audited(HOME, WANTED.account)[asked:]
    assert [each for each in since if each.verb in WRITES] == [], "not even a Lease"
    assert snapshot(api) == before
    reads = len(vault.reads)

    with daemon(tmp_path, None, *flags, POD_NAMESPACE=HOME) as process:
        process.until(lambda: process.get("/readyz") == "ok\n", "ready")
        process.until(lambda: process.metric("syncret_first_pass_seconds") > 0, "looked at everything")
        assert process.metric("externalsecret_provider_api_calls_count") <= len(NAMESPACES), "of what is due"
        assert process.stop() == 0
    since = api.audited(HOME, WANTED.account)[asked:]
    assert [each for each in since if each.verb in WRITES and not _is_report(each)] == []
    after = snapshot(api)
    moved = {name for name, version in after.items() if before.pop(name) != version}
    assert moved <= {f"ExternalSecret {each}/none" for each in NAMESPACES}, "not even a status"
    assert before == {}
    assert (len(vault.reads), len(vault.logins)) == asked_before
    assert reads == asked_before[0]


def _is_report(request: Request) -> bool:
    return request.resource in {"leases", "events"} or request.resource.endswith("/status")


LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases/external-secrets-controller"


def late(api: KubeApi, name: str, interval: str = "8760h") -> str:
    """One more ExternalSecret; the path of its Secret."""
    spec = {
        "refreshInterval": interval,
        "secretStoreRef": {"name": "s"},
        "data": [{"secretKey": "a", "remoteRef": {"key": "plain"}}],
    }
    document = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": name},
        "spec": spec,
    }
    api.create(place("ExternalSecret", NAMESPACES[0]), document)
    return place("Secret", NAMESPACES[0], name)


def not_ready(process: Daemon) -> str:
    """Why it says that it is not ready; empty if it is."""
    text = process.get("/readyz")
    return "" if text == "ok\n" else text


@pytest.fixture
def account(filled: KubeApi, tmp_path: Path) -> tuple[str, Path]:
    """The name of an account of the test's own with the exported roles, and a kubeconfig with its token."""
    name = f"i-{tmp_path.name.lower().replace('_', '-')}"[:40].rstrip("-")
    wanted = structs.replace(WANTED, name=name)
    token = account_with(filled, wanted, rights(wanted))
    return name, filled.kubeconfig(tmp_path / "kubeconfig", token, namespace=HOME)


def test_beside_an_operator_that_renews_its_lease_nothing_is_written_until_it_is_gone(
    filled: KubeApi, account: tuple[str, Path], tmp_path: Path
) -> None:
    if not can_elect():
        pytest.skip("needs root, and unshare")
    api, (name, config) = filled, account
    flags = ("--kubernetes", "--set", f"kubeconfig={config}")
    pod = {"POD_NAMESPACE": HOME, "POD_NAME": "syncret-0"}
    with ExitStack() as stack:
        running = stack.enter_context(ExitStack())
        folder = tmp_path / "operator"
        folder.mkdir()
        running.enter_context(operator(api, folder, lease_in=HOME))
        until(lambda: member(api.get(LEASE) or {}, "spec").get("holderIdentity"), "the operator active", 60)
        process = stack.enter_context(daemon(tmp_path, None, *flags, ready=False, **pod))
        process.until(lambda: "renewed by another operator" in not_ready(process), "refused")
        made = late(api, "beside")
        process.until(lambda: api.get(made) is not None, "made by the operator")
        process.until(lambda: process.metric("syncret_foreign_writer", kind="Lease") == 1, "counted")
        events = f"/api/v1/namespaces/{HOME}/events"
        process.until(
            lambda: any(each["reason"] == "OtherOperator" for each in (api.get(events) or {})["items"]),
            "an Event",
        )
        written = [each for each in api.audited(HOME, name) if each.verb in WRITES]
        assert {each.resource for each in written} <= {"events", "selfsubjectaccessreviews"}, written
        running.close()

        taken = late(api, "after")
        until(lambda: api.get(taken) is not None, "taken over", 120, every=0.5)
        assert not_ready(process) == ""
        holder = str(member(api.get(LEASE) or {}, "spec")["holderIdentity"])
        assert holder.startswith("syncret-0_"), "an operator would wait for us"
        assert process.stop() == 0
        assert "Traceback" not in process.stderr
    assert [each for each in api.audited(HOME, name) if each.status in {401, 403}] == []


def test_an_operator_without_an_election_is_known_by_the_statuses_that_it_writes(
    filled: KubeApi, account: tuple[str, Path], tmp_path: Path
) -> None:
    api, (_, config) = filled, account
    flags = ("--kubernetes", "--set", f"kubeconfig={config}")
    late(api, "often", interval="2s")
    with operator(api, tmp_path), daemon(tmp_path, None, *flags, ready=False) as process:
        until(lambda: "was written by another operator" in not_ready(process), "refused", 60)
        assert process.metric("syncret_foreign_writer", kind="ExternalSecret") == 1
        forced = tmp_path / "forced"
        forced.mkdir()
        with daemon(forced, None, *flags, "--set", "migration.force=true", ready=False) as other:
            other.until(lambda: other.metric("syncret_first_pass_seconds") > 0, "looked at everything")
            assert not_ready(other) == ""
            assert other.stop() == 0
        assert process.stop() == 0
        often = place("ExternalSecret", NAMESPACES[0], "often")
        api.request("DELETE", often)  # for the tests after this one nothing is to be due
        until(lambda: api.get(often) is None, "gone", 60)
