"""What is taken over from the operator that was there before us, and what has to be made anew."""

from base64 import b64encode
from copy import deepcopy

import pytest

from syncret.config.meta import Document
from syncret.daemon.operator.immutable import immutable_difference, is_managed
from syncret.daemon.operator.takeover import MANAGED_ANNOTATIONS, listed, obsolete, renamed

THEIRS: Document = {
    "manager": "external-secrets-operator",
    "operation": "Update",
    "fieldsV1": {"f:spec": {"f:replicas": {}, "f:template": {}}},
}
SCALED: Document = {"manager": "kubectl", "operation": "Update", "subresource": "scale", "fieldsV1": {}}
OURS: Document = {"manager": "syncret-operator", "operation": "Apply", "fieldsV1": {}}


def booked(*entries: Document) -> Document:
    return {"metadata": {"managedFields": deepcopy(list(entries))}}


def test_their_bookkeeping_becomes_ours_but_for_replicas() -> None:
    assert renamed(booked(SCALED, THEIRS)) == [
        SCALED,
        {"manager": "syncret-operator", "operation": "Apply", "fieldsV1": {"f:spec": {"f:template": {}}}},
        {**THEIRS, "fieldsV1": {"f:spec": {"f:replicas": {}}}},
    ]


@pytest.mark.parametrize("entries", [(), (SCALED,), (OURS,), (OURS, THEIRS)], ids=len)
def test_where_it_wrote_nothing_or_we_have_applied_nothing_is_renamed(entries: tuple[Document, ...]) -> None:
    assert renamed(booked(*entries)) is None


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        pytest.param(b64encode(b'["a/b", "c", 1]').decode(), ["a/b", "c"], id="a list"),
        pytest.param("", [], id="empty"),
        pytest.param("%", [], id="not base64"),
        pytest.param(b64encode(b"{").decode(), [], id="not JSON"),
        pytest.param(b64encode(b'{"a": 1}').decode(), [], id="no list"),
    ],
)
def test_the_list_of_its_annotations_is_read(text: str, keys: list[str]) -> None:
    assert [*listed({"metadata": {"annotations": {MANAGED_ANNOTATIONS: text}}})] == keys


def test_annotations_that_are_listed_and_not_wanted_are_taken_off_pods_too() -> None:
    noted = {"annotations": {"a/b": "1", "kept": "2", "theirs": "3"}}
    live: Document = {"metadata": noted, "spec": {"template": {"metadata": noted}}}
    wanted: Document = {"metadata": {"annotations": {"kept": "2"}}, "spec": {"template": {"metadata": noted}}}
    assert [*obsolete(wanted, live, ["a/b", "kept", "gone"])] == ["/metadata/annotations/a~1b"]
    assert [*obsolete({"metadata": {}}, live, ["a/b"])] == [
        "/metadata/annotations/a~1b",
        "/spec/template/metadata/annotations/a~1b",
    ]


@pytest.mark.parametrize(
    ("kind", "wanted", "live", "field"),
    [
        (
            "Deployment",
            {"spec": {"selector": {"a": "b"}}},
            {"spec": {"selector": {"a": "c"}}},
            "spec.selector",
        ),
        ("Deployment", {"spec": {"selector": {"a": "b"}}}, {"spec": {"selector": {"a": "b"}, "x": 1}}, ""),
        ("RoleBinding", {"roleRef": {"name": "a"}}, {"roleRef": {"name": "b"}}, "roleRef"),
        ("ClusterRoleBinding", {"roleRef": {"name": "a"}}, {"roleRef": {"name": "b"}}, "roleRef"),
        ("Service", {"spec": {"selector": {"a": "b"}}}, {"spec": {"selector": {"a": "c"}}}, ""),
    ],
)
def test_what_can_never_be_changed_is_found(kind: str, wanted: Document, live: Document, field: str) -> None:
    assert immutable_difference({"kind": kind, **wanted}, live) == field


def test_an_object_without_the_label_is_not_ours_to_delete() -> None:
    assert not is_managed({"metadata": {}})
    label = {"app.kubernetes.io/managed-by": "external-secrets-operator"}
    assert is_managed({"metadata": {"labels": label}})
