"""The simulated cluster with the real rules and the real catalog of providers."""

import pytest

from syncret.config.errors import Severity
from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind
from syncret.daemon.homes.contract import Invalid
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry
from tests.suites.homes.objects import (
    OURS,
    SECRET,
    START,
    THING,
    document_of,
    existing,
    manifest,
    ref,
    secret,
)

STORE = GroupKind("external-secrets.io", "SecretStore")
CLUSTER_STORE = GroupKind("external-secrets.io", "ClusterSecretStore")
FAKE = {"provider": {"fake": {"data": [{"key": "k", "value": "v"}]}}}


@pytest.fixture
def strict() -> MemoryCluster:
    return MemoryCluster(now=lambda: START, admission=admission_by(Registry()))


def external_secret(name: str = "a", **spec: object) -> Document:
    data = [{"secretKey": "x", "remoteRef": {"key": "k"}}]
    return manifest(name=name, spec={"secretStoreRef": {"name": "store"}, "data": data, **spec})


async def test_defaults_are_filled_in(strict: MemoryCluster) -> None:
    stored = await strict.apply(external_secret())
    assert stored.document["spec"]["refreshInterval"] == "1h0m0s"
    assert stored.document["spec"]["target"]["creationPolicy"] == "Owner"


async def test_what_defaults_fill_in_is_no_change(strict: MemoryCluster) -> None:
    assert await strict.apply(external_secret()) == await strict.apply(external_secret())


async def test_unknown_fields_are_pruned(strict: MemoryCluster) -> None:
    stored = await strict.apply(external_secret(typo=1))
    assert "typo" not in stored.document["spec"]


async def test_an_old_version_is_stored_as_the_new_one(strict: MemoryCluster) -> None:
    document = {**manifest(STORE, spec=FAKE), "apiVersion": "external-secrets.io/v1beta1"}
    assert (await strict.apply(document)).document["apiVersion"] == "external-secrets.io/v1"


@pytest.mark.parametrize(
    ("document", "path"),
    [
        pytest.param(
            manifest(GroupKind("example.com", "Widget"), meta={"labels": {"a": "{{ .x }}"}}),
            "metadata.labels.a",
            id="label of a foreign kind",
        ),
        pytest.param(manifest(STORE, spec={}), "spec.provider", id="required"),
        pytest.param(manifest(STORE, spec={"provider": {}}), "spec.provider", id="no provider"),
        pytest.param(manifest(name="Upper"), "metadata.name", id="name"),
        pytest.param(manifest(meta={"labels": {"a": 1}}), "metadata.labels.a", id="label"),
        pytest.param(manifest(GroupKind("external-secrets.io", "Typo")), "kind", id="no such kind of ours"),
        pytest.param(secret(data={"a": "?"}), "data.a", id="base64"),
        pytest.param(secret(stringData={"a": 1}), "stringData.a", id="number"),
    ],
)
async def test_what_breaks_a_rule_is_refused_in_the_words_of_validation(
    strict: MemoryCluster, document: Document, path: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        await strict.apply(document)
    assert path in [problem.path for problem in refusal.value.problems if problem.severity is Severity.ERROR]
    assert list(strict.kinds()) == []


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"name": "a", "labels": "x"}, id="labels"),
        pytest.param({"name": "a", "labels": {"a": 1}}, id="a label"),
        pytest.param({"name": "a", "\ud800": 1}, id="half of a surrogate pair"),
        pytest.param({"name": "a", "annotations": [1]}, id="annotations"),
        pytest.param({"name": "a", "finalizers": [1]}, id="a finalizer"),
        pytest.param({"name": "a", "ownerReferences": [{"name": "x"}]}, id="half an owner"),
        pytest.param("x", id="no object"),
        pytest.param(None, id="nothing"),
    ],
)
async def test_a_foreign_kind_with_malformed_metadata_is_refused(
    strict: MemoryCluster, metadata: Json
) -> None:
    with pytest.raises(Invalid):
        await strict.apply({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata})


async def test_a_refused_change_leaves_the_old(strict: MemoryCluster) -> None:
    stored = await strict.apply(manifest(STORE, spec=FAKE))
    with pytest.raises(Invalid):
        await strict.patch(stored.ref, {"spec": {"provider": None}})
    with pytest.raises(Invalid):
        await strict.apply(manifest(STORE, spec={"provider": {"nobody": {}}}))
    assert await strict.get(stored.ref) == stored


async def test_an_immutable_secret_is_refused_once(strict: MemoryCluster) -> None:
    await strict.apply(secret(stringData={"a": "1"}, immutable=True))
    with pytest.raises(Invalid) as refusal:
        await strict.apply(secret(stringData={"a": "2"}, immutable=True))
    assert [problem.path for problem in refusal.value.problems] == ["data"]


async def test_without_a_namespace_an_object_stands_in_the_default_one(strict: MemoryCluster) -> None:
    created = await strict.apply({**manifest(STORE, namespace="", spec=FAKE)})
    assert created.ref == ref(STORE)
    assert await strict.apply(manifest(STORE, namespace="", spec=FAKE)) == created
    changed = await strict.apply(manifest(STORE, namespace="", spec={**FAKE, "controller": "x"}))
    assert changed.uid == created.uid


async def test_cluster_scoped_objects_stand_in_no_namespace(strict: MemoryCluster) -> None:
    stored = await strict.apply(manifest(CLUSTER_STORE, spec=FAKE))
    assert stored.ref == ref(CLUSTER_STORE, namespace="")
    changed = await strict.apply(manifest(CLUSTER_STORE, spec={**FAKE, "controller": "x"}))
    assert changed.uid == stored.uid
    assert [kind.kind for kind in strict.kinds()] == ["ClusterSecretStore"]


async def test_kinds_that_are_none_of_ours_are_stored_as_they_are(strict: MemoryCluster) -> None:
    stored = await strict.apply(manifest(THING, anything=[1], status={"a": 1}))
    assert stored.document["anything"] == [1]
    assert stored.document["status"] == {"a": 1}


async def test_status_and_system_metadata_survive_admission(strict: MemoryCluster) -> None:
    created = await strict.apply(external_secret())
    await strict.update_status(created, {"a": 1})
    document = await document_of(strict, ref(OURS))
    document["metadata"]["finalizers"] = ["example.com/f"]
    await strict.update(document)
    await strict.remove(ref(OURS))
    marked = await existing(strict, ref(OURS))
    assert await strict.update(marked.document) == marked
    assert marked.document["status"] == {"a": 1}
    assert marked.uid == created.uid
    await strict.apply(secret(stringData={"a": "1"}))
    assert (await document_of(strict, ref(SECRET, "s")))["data"] == {"a": "MQ=="}
