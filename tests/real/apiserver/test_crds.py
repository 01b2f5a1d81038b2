"""The exported CRDs on a real API server: what clients see, select, apply and may still write."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from syncret.config.meta import Document, GroupKind
from syncret.config.resources import kinds
from syncret.config.resources.kinds import Kind, Kinds
from syncret.config.schema.crds import crd
from syncret.providers.registry import Registry
from tests.real.apiserver.server import Server, server_with_crds
from tests.support.servers.kube.crds import CRDS, Definition, collection, until

pytestmark = pytest.mark.slow

REGISTRY: Final = Registry()
AS_TABLE: Final = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
SPEC: Final[Document] = {
    "secretStoreRef": {"name": "vault", "kind": "ClusterSecretStore"},
    "refreshInterval": "15m",
    "target": {"name": "database"},
    "dataFrom": [{"extract": {"key": "a"}}],
}
PUSH: Final[Document] = {
    "secretStoreRefs": [{"name": "vault"}],
    "selector": {"secret": {"name": "database"}},
}
FAKE: Final[Document] = {"provider": {"fake": {"data": [{"key": "a", "value": "b"}]}}}
NOW: Final = "2026-01-01T00:00:00Z"


def _ready(reason: str, status: str = "True") -> Document:
    return {"conditions": [{"type": "Ready", "status": status, "reason": reason}]}


@pytest.fixture(scope="module")
def server() -> Server:
    return server_with_crds(REGISTRY)


@pytest.fixture
def namespace(server: Server) -> str:
    return server.api.namespace()


def _created(server: Server, kind: Kind, namespace: str, spec: Document, **more: Document) -> str:
    """The path of a new object; one of a cluster-scoped kind is named for the namespace of the test."""
    name = "sample" if kind.namespaced else namespace
    path = collection(kind, namespace)
    document = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name},
        "spec": spec,
    }
    server.api.create(path, {**document, **more})
    return f"{path}/{name}"


def _row(server: Server, path: str) -> dict[str, Any]:
    answer = server.api.request("GET", path, headers=AS_TABLE)
    assert answer.status == 200, answer
    columns = [column["name"] for column in answer.body["columnDefinitions"]]
    return dict(zip(columns, answer.body["rows"][0]["cells"], strict=True))


@pytest.mark.parametrize(
    ("kind", "spec", "status", "columns"),
    [
        pytest.param(
            kinds.EXTERNAL_SECRET,
            SPEC,
            {**_ready("SecretSynced"), "refreshTime": NOW},
            {
                "StoreType": "ClusterSecretStore",
                "Store": "vault",
                "Refresh Interval": "15m",
                "Status": "SecretSynced",
                "Ready": "True",
                "Last Sync": ...,
            },
            id="ExternalSecret",
        ),
        *(
            pytest.param(
                kind,
                FAKE,
                {**_ready("Valid"), "capabilities": "ReadWrite"},
                {"AGE": ..., "Status": "Valid", "Capabilities": "ReadWrite", "Ready": "True"},
                id=kind.kind,
            )
            for kind in (kinds.SECRET_STORE, kinds.CLUSTER_SECRET_STORE)
        ),
        pytest.param(
            kinds.CLUSTER_EXTERNAL_SECRET,
            {"externalSecretSpec": SPEC, "refreshTime": "1h"},
            _ready("", "False"),
            {"Store": "vault", "Refresh Interval": "1h", "Ready": "False"},
            id="ClusterExternalSecret",
        ),
        pytest.param(
            kinds.PUSH_SECRET,
            PUSH,
            {**_ready("Synced"), "refreshTime": NOW},
            {"AGE": ..., "Status": "Synced", "Last Sync": ...},
            id="PushSecret",
        ),
        pytest.param(
            kinds.CLUSTER_PUSH_SECRET,
            {"pushSecretSpec": PUSH},
            _ready("Synced"),
            {"AGE": ..., "Status": "Synced"},
            id="ClusterPushSecret",
        ),
    ],
)
def test_get_shows_the_columns(
    server: Server, namespace: str, kind: Kind, spec: Document, status: Document, columns: Mapping[str, Any]
) -> None:
    path = _created(server, kind, namespace, spec, status={"conditions": []})
    assert server.api.request("PATCH", f"{path}/status", {"status": status}).status == 200
    row = _row(server, path)
    assert list(row) == ["Name", *columns]
    assert {name: row[name] for name, cell in columns.items() if cell is not ...} == {
        name: cell for name, cell in columns.items() if cell is not ...
    }
    assert all(row[name] for name in columns), "times are shown as ages"


def test_status_is_written_by_requests_of_its_own(server: Server, namespace: str) -> None:
    status = _ready("Mine")
    path = _created(server, kinds.PUSH_SECRET, namespace, PUSH, status=status)
    assert "status" not in (server.api.get(path) or {})
    changed = server.api.request(
        "PATCH", f"{path}/status", {"status": status, "spec": {"refreshInterval": "5m"}}
    )
    assert changed.body["status"] == status
    assert changed.body["metadata"]["generation"] == 1
    assert changed.body["spec"]["refreshInterval"] == "1h0m0s"


def test_a_generator_state_has_its_status_in_the_object(server: Server, namespace: str) -> None:
    spec = {"resource": {"kind": "Fake"}, "state": {"id": 1}, "garbageCollectionDeadline": NOW}
    path = _created(server, kinds.GENERATOR_STATE, namespace, spec, status=_ready("Kept"))
    assert (server.api.get(path) or {})["status"] == _ready("Kept")
    assert server.api.request("PATCH", f"{path}/status", {"status": {}}).status == 404
    row = _row(server, path)
    assert list(row) == ["Name", "GC Deadline", "Age"]
    assert row["GC Deadline"] == NOW


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("spec.secretStoreRef.name=vault", ["one"]),
        ("spec.secretStoreRef.kind=SecretStore", ["two"]),
        ("spec.target.name=database,spec.refreshInterval=15m", ["one"]),
        ("spec.refreshInterval!=15m", ["two"]),
    ],
)
def test_fields_select(server: Server, namespace: str, selector: str, found: list[str]) -> None:
    path = collection(kinds.EXTERNAL_SECRET, namespace)
    other = {**SPEC, "secretStoreRef": {"name": "aws", "kind": "SecretStore"}, "refreshInterval": "1h"}
    for name, spec in (("one", SPEC), ("two", other)):
        server.api.create(
            path,
            {
                "apiVersion": kinds.EXTERNAL_SECRET.api_version,
                "kind": "ExternalSecret",
                "metadata": {"name": name},
                "spec": spec,
            },
        )
    answer = server.api.request("GET", f"{path}?fieldSelector={selector.replace('!', '%21')}")
    assert [item["metadata"]["name"] for item in answer.body["items"]] == found


def test_short_names_and_categories(server: Server) -> None:
    def listed(version: str) -> dict[str, Any]:
        resources = server.api.request("GET", f"/apis/{version}").body["resources"]
        return {
            each["kind"]: (each.get("shortNames"), each.get("categories"))
            for each in resources
            if "/" not in each["name"]
        }

    of_stores = ["external-secrets"]
    assert listed("external-secrets.io/v1") == {
        "ExternalSecret": (["es"], of_stores),
        "SecretStore": (["ss"], of_stores),
        "ClusterSecretStore": (["css"], of_stores),
        "ClusterExternalSecret": (["ces"], of_stores),
    }
    assert listed("external-secrets.io/v1alpha1") == {
        "PushSecret": (["ps"], of_stores),
        "ClusterPushSecret": (None, of_stores),
    }
    of_generators = [*of_stores, "external-secrets-generators"]
    generators = listed("generators.external-secrets.io/v1alpha1")
    assert generators.pop("GeneratorState") == (["gs"], of_generators)
    assert {names for names, _ in generators.values()} == {None}
    assert all(categories == of_generators for _, categories in generators.values())


def _external_secret(version: str, **spec: Any) -> Document:  # noqa: ANN401  # any JSON
    return {
        "apiVersion": f"external-secrets.io/{version}",
        "kind": "ExternalSecret",
        "metadata": {"name": "sample"},
        "spec": {**SPEC, **spec},
    }


def test_the_older_version_is_served_when_asked_for(server: Server) -> None:
    document = _external_secret("v1beta1")
    unserved = Definition.put(server.api, crd(kinds.EXTERNAL_SECRET, REGISTRY), "unserved.example")
    assert unserved.asked(document).status == 404

    definition = crd(kinds.EXTERNAL_SECRET, REGISTRY, serve_v1beta1=True)
    served = Definition.put(server.api, definition, "served.example")
    answer = served.asked(document)
    assert answer.status == 201
    assert answer.body["spec"]["target"]["creationPolicy"] == "Owner"
    assert [warning for warning in answer.warnings if "write apiVersion: external-secrets.io/v1" in warning]
    assert served.asked(_external_secret("v1beta1", data=5)).status == 422
    assert served.asked(_external_secret("v1beta1", dataFrom=[{}])).status == 422
    path = served.collection("v1beta1")
    server.api.create(path, {**document, "apiVersion": "served.example/v1beta1"})
    read = server.api.get(f"{served.collection('v1')}/sample") or {}
    assert (read["apiVersion"], read["spec"]) == ("served.example/v1", answer.body["spec"])


def test_objects_that_were_stored_in_the_older_version_stay(server: Server) -> None:
    """The CRD of an installation that is old enough has v1beta1 in its status, and cannot lose it."""
    group = "upgraded.example"
    older = crd(kinds.EXTERNAL_SECRET, REGISTRY, serve_v1beta1=True)
    for version in older["spec"]["versions"]:
        version["storage"] = version["name"] == "v1beta1"
    before = Definition.put(server.api, older, group)
    document = {**_external_secret("v1beta1"), "apiVersion": f"{group}/v1beta1"}
    server.api.create(before.collection("v1beta1"), document)

    after = Definition.put(server.api, crd(kinds.EXTERNAL_SECRET, REGISTRY), group)
    standing = server.api.get(f"{CRDS}/externalsecrets.{group}") or {}
    assert standing["status"]["storedVersions"] == ["v1beta1", "v1"]
    read = server.api.get(f"{after.collection('v1')}/sample") or {}
    assert read["spec"]["secretStoreRef"] == SPEC["secretStoreRef"]
    assert read["spec"]["dataFrom"] == SPEC["dataFrom"]
    until(lambda: server.api.get(f"{after.collection('v1beta1')}/sample") is None, "v1beta1 is not served")


def _old_and_wrong() -> Mapping[str, tuple[Kind, Document, Document]]:
    """Of each kind with rules: a spec that breaks one or several, and one that breaks none."""
    generator = Kinds(REGISTRY).find(GroupKind("generators.external-secrets.io", "GitlabDeployToken"))
    assert generator is not None
    token = {"name": "n", "scopes": ["read_registry"], "auth": {"token": {"secretRef": {"name": "s"}}}}
    target = {
        "deletionPolicy": "Delete",
        "creationPolicy": "None",
        "template": {"templateFrom": [{"target": "x"}]},
    }
    doppler = {"secretRef": {"dopplerToken": {"name": "s"}}}
    return {
        "entries": (
            kinds.EXTERNAL_SECRET,
            {"secretStoreRef": {"name": "s"}, "target": target, "dataFrom": [{}, {}]},
            SPEC,
        ),
        "nothing": (kinds.EXTERNAL_SECRET, {"secretStoreRef": {"name": "s"}}, SPEC),
        "push": (kinds.PUSH_SECRET, {**PUSH, "dataTo": [{}]}, {**PUSH, "dataTo": None}),
        "store": (
            kinds.SECRET_STORE,
            {"provider": {"doppler": {"auth": {}}}},
            {"provider": {"doppler": {"auth": doppler}}},
        ),
        "generator": (generator, {**token, "projectID": "1", "groupID": "2"}, {**token, "projectID": "1"}),
    }


OLD: Final = _old_and_wrong()


def _replaced(server: Server, path: str, spec: Document) -> int:
    standing = server.api.get(path) or {}
    return server.api.request("PUT", path, {**standing, "spec": spec}).status


@pytest.mark.parametrize("name", OLD)
def test_an_object_from_before_the_rules_keeps_its_life(server: Server, name: str) -> None:
    """Its status, labels and finalizers can be written; a change of what is wrong must make it right."""
    kind, wrong, right = OLD[name]
    group = f"strict-{name}.example"
    before = Definition.put(server.api, crd(kind, REGISTRY, compat=True), group)
    version = kind.versions[0]
    document = {
        "apiVersion": f"{group}/{version}",
        "kind": kind.kind,
        "metadata": {"name": "old"},
        "spec": wrong,
    }
    server.api.create(before.collection(version), document)
    strict = Definition.put(server.api, crd(kind, REGISTRY), group)
    until(lambda: strict.asked({**document, "metadata": {"name": "new"}}).status == 422, "the rules hold")

    path = f"{strict.collection(version)}/old"
    status = _ready("Errored", "False")
    written = server.api.request("PATCH", f"{path}/status", {"status": status})
    assert written.status == 200, written
    metadata = {"labels": {"a": "b"}, "finalizers": ["example.com/x"], "annotations": {"a": "b"}}
    assert server.api.request("PATCH", path, {"metadata": metadata}).status == 200
    assert _replaced(server, path, right) == 200
    assert _replaced(server, path, wrong) == 422, "it cannot become wrong again"
    assert server.api.request("PATCH", path, {"metadata": {"finalizers": None}}).status == 200
    assert server.api.request("DELETE", path).status == 200
