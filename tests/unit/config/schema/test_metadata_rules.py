"""The rules on metadata, which are those of the API server and the same for every kind."""

import pytest

from syncret.config.fields import Json
from syncret.config.schema.admission import admit
from tests.unit.config.support import CATALOG, core, document, external_secret, messages

OWNER: Json = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param(None, ["metadata.name: is required"], id="absent"),
        pytest.param([], ["metadata: must be an object, not an array"], id="no object"),
        pytest.param({"name": 1}, ["metadata.name: must be a string, not an integer"], id="number"),
        pytest.param({"name": "A"}, ["metadata.name: is not a DNS name"], id="upper case"),
        pytest.param({"name": "a\n"}, ["metadata.name: is not a DNS name"], id="newline"),
        pytest.param({"name": "../x"}, ["metadata.name: is not a DNS name"], id="path"),
        pytest.param({"name": "a" * 254}, ["metadata.name: must be at most 253 characters long"], id="long"),
        pytest.param(
            {"name": "a", "namespace": "a.b"}, ["metadata.namespace: is not a DNS label"], id="namespace"
        ),
        pytest.param(
            {"name": "a", "labels": {"a": 1}},
            ["metadata.labels.a: must be a string, not an integer"],
            id="type",
        ),
        pytest.param(
            {"name": "a", "labels": {"a/b/c": ""}},
            ['metadata.labels["a/b/c"]: the key is not a qualified name'],
            id="label key",
        ),
        pytest.param(
            {"name": "a", "labels": {"A.b/c": ""}},
            ['metadata.labels["A.b/c"]: the key is not a qualified name'],
            id="label domain",
        ),
        pytest.param(
            {"name": "a", "labels": {"a": "b c"}},
            ["metadata.labels.a: is not a label value"],
            id="label value",
        ),
        pytest.param(
            {"name": "a", "labels": {"a": "b" * 64}},
            ["metadata.labels.a: must be at most 63 characters long"],
            id="long label",
        ),
        pytest.param(
            {"name": "a", "annotations": {"a b": ""}},
            ['metadata.annotations["a b"]: the key is not a qualified name'],
            id="annotation",
        ),
        pytest.param(
            {"name": "a", "annotations": {"a": "b" * 300_000}},
            ["metadata.annotations: must have at most 262144 bytes in all"],
            id="large annotations",
        ),
        pytest.param(
            {"name": "a", "finalizers": ["a b"]},
            ["metadata.finalizers[0]: is not a qualified name"],
            id="finalizer",
        ),
        pytest.param(
            {"name": "a", "annotations": {"a": "é" * 131_072}},
            ["metadata.annotations: must have at most 262144 bytes in all"],
            id="annotations are counted in bytes",
        ),
        pytest.param(
            {"name": "a", "finalizers": ["orphan", "foregroundDeletion"]},
            ["metadata.finalizers: orphan and foregroundDeletion cannot be both set"],
            id="finalizers of the collector",
        ),
        pytest.param(
            {"name": "a", "ownerReferences": [{**OWNER, "apiVersion": "a/b/c"}, {**OWNER, "apiVersion": ""}]},
            [
                "metadata.ownerReferences[0].apiVersion: is not an API version",
                "metadata.ownerReferences[1].apiVersion: is not an API version",
            ],
            id="version of an owner",
        ),
        pytest.param(
            {"name": "a", "ownerReferences": [{**OWNER, "name": "", "kind": "", "uid": ""}]},
            [
                "metadata.ownerReferences[0].kind: must not be empty",
                "metadata.ownerReferences[0].name: must not be empty",
                "metadata.ownerReferences[0].uid: must not be empty",
            ],
            id="owner without a name",
        ),
        pytest.param(
            {"name": "a", "ownerReferences": [{**OWNER, "kind": "Event"}]},
            ["metadata.ownerReferences[0]: an Event must not own anything"],
            id="event as owner",
        ),
        pytest.param(
            {"name": "a", "ownerReferences": [{**OWNER, "controller": True}] * 2},
            ["metadata.ownerReferences: only one owner can have controller set to true"],
            id="two controllers",
        ),
        pytest.param(
            {"name": "a", "ownerReferences": [OWNER, {**OWNER, "apiVersion": "apps/v1"}]}, [], id="owners"
        ),
        pytest.param(
            {"name": "a", "creationTimestamp": "", "deletionTimestamp": "2026-01-01"},
            [
                "metadata.creationTimestamp: must be a time with its zone",
                "metadata.deletionTimestamp: must be a time with its zone",
            ],
            id="times",
        ),
        pytest.param(
            {"name": "a", "managedFields": 1, "selfLink": 1, "deletionGracePeriodSeconds": "5"},
            [
                "metadata.managedFields: must be an array",
                "metadata.selfLink: must be a string",
                "metadata.deletionGracePeriodSeconds: must be an integer",
            ],
            id="types of what nobody reads",
        ),
        pytest.param({"name": "a", "generateName": "a-"}, [], id="generateName"),
        pytest.param(
            {"name": "a", "generateName": "A_b"},
            ["metadata.generateName: cannot begin a DNS name"],
            id="generateName of upper case",
        ),
        pytest.param(
            {"name": "a", "namespace": {}},
            ["metadata.namespace: must be a string, not an object"],
            id="namespace that is no text",
        ),
        pytest.param(
            {"name": "a", "managedFields": [1], "creationTimestamp": None, "generation": 3},
            [],
            id="written by a server",
        ),
        pytest.param(
            {"name": "a", "annotation": {}},
            ["?metadata.annotation: unknown field, it is dropped"],
            id="unknown",
        ),
    ],
)
def test_the_rules_on_metadata(metadata: Json, expected: list[str]) -> None:
    admitted = admit(external_secret() | {"metadata": metadata}, CATALOG)
    assert messages(admitted.problems) == expected


def test_a_cluster_scoped_kind_loses_its_namespace() -> None:
    admitted = admit(core("Namespace") | {"metadata": {"name": "x", "namespace": "y"}}, CATALOG)
    assert admitted.accepted
    assert admitted.document is not None
    assert admitted.document["metadata"] == {"name": "x"}
    assert [problem.path for problem in admitted.problems] == ["metadata.namespace"]


def test_the_name_of_a_namespace_is_a_label() -> None:
    admitted = admit(core("Namespace") | {"metadata": {"name": "a.b"}}, CATALOG)
    assert messages(admitted.problems) == ["metadata.name: is not a DNS name"]


def test_a_null_is_an_empty_label() -> None:
    admitted = admit(external_secret() | {"metadata": {"name": "x", "labels": {"a": None}}}, CATALOG)
    assert admitted.accepted
    assert admitted.document is not None
    assert admitted.document["metadata"]["labels"] == {"a": ""}


def test_names_and_fields_are_validated_together() -> None:
    admitted = admit(document("ExternalSecret", {"target": {"name": "A"}}, name="B"), CATALOG)
    assert [problem.path for problem in admitted.problems] == ["spec.target.name", "metadata.name"]
