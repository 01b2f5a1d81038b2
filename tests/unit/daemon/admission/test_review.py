"""What the webhook answers, whatever comes: the verdicts of `syncret validate`, and never a value."""

from typing import Any

import msgspec
import pytest

from syncret.config.meta import Document, GroupKind
from syncret.daemon.admission.review import NotAReview, reviewed
from syncret.daemon.core.webhook_names import PATHS
from syncret.providers.registry import Registry

CATALOG = Registry()
KIND = GroupKind("external-secrets.io", "ExternalSecret")
STORE = GroupKind("external-secrets.io", "SecretStore")
VALUE = "hunter2-value"


def sync(**spec: Any) -> Document:  # noqa: ANN401  # any member
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "x", "namespace": "shop", "uid": "u", "managedFields": [{"manager": "kubectl"}]},
        "spec": {"data": [{"secretKey": "a", "remoteRef": {"key": "k"}}], **spec},
        "status": {"conditions": []},
    }


def store(**provider: Any) -> Document:  # noqa: ANN401  # any member
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "s", "namespace": "shop"},
        "spec": {"provider": provider},
    }


def asked(
    document: object,
    kind: GroupKind = KIND,
    *,
    version: str = "v1",
    operation: str = "CREATE",
    old: object = None,
) -> Document:
    request = {"uid": "1", "operation": operation, "object": document, "oldObject": old}
    review = {"apiVersion": f"admission.k8s.io/{version}", "kind": "AdmissionReview", "request": request}
    return reviewed(msgspec.json.encode(review), kind, CATALOG)


def verdict(*args: Any, **more: Any) -> tuple[bool, str]:  # noqa: ANN401  # as `asked` has them
    response = asked(*args, **more)["response"]
    return response["allowed"], response.get("status", {}).get("message", "")


def test_the_paths_are_the_operators() -> None:
    assert {path.rpartition("-")[2]: kind.kind for path, kind in PATHS.items()} == {
        "externalsecret": "ExternalSecret",
        "secretstore": "SecretStore",
        "clustersecretstore": "ClusterSecretStore",
    }
    assert all(path.startswith("/validate-external-secrets-io-v1-") for path in PATHS)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_answer_has_the_version_and_the_uid_of_the_question(version: str) -> None:
    assert asked(sync(), version=version) == {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "response": {"uid": "1", "allowed": True},
    }


def test_a_refusal_begins_as_the_operators() -> None:
    response = asked(sync(data=[]))["response"]
    assert response["allowed"] is False
    assert response["status"]["message"].startswith("either data or dataFrom should be specified")
    assert (response["status"]["code"], response["status"]["reason"]) == (403, "Forbidden")


def test_each_problem_is_a_line() -> None:
    _, message = verdict(sync(data=[], target={"deletionPolicy": "Merge", "creationPolicy": "None"}))
    assert [line.partition(" (")[0] for line in message.splitlines()] == [
        "deletionPolicy=Merge must not be used with creationPolicy=None",
        "either data or dataFrom should be specified",
    ]


def test_a_store_without_maintainers_is_warned_of() -> None:
    response = asked(store(fake={"data": [{"key": "k", "value": VALUE}]}), STORE)["response"]
    assert response["allowed"] is True
    (warning,) = response["warnings"]
    assert warning.startswith("store s isn't currently maintained")


def test_no_answer_has_a_value() -> None:
    bad = [{"key": "k", "value": VALUE}, {"key": "x", "value": ""}, {"key": "", "value": VALUE}]
    answers = [
        asked(store(fake={"data": bad}), STORE),
        asked(store(fake={"data": VALUE}), STORE),
        asked(store(fake={"data": [{"value": {VALUE: VALUE}}]}), STORE),
    ]
    assert not any(answer["response"]["allowed"] for answer in answers)
    assert VALUE not in str(answers)


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
def test_what_is_deleted_always_passes(operation: str) -> None:
    assert verdict(None, operation=operation, old=sync(data=[])) == (True, "")


def test_an_object_from_before_a_rule_can_be_changed_where_no_rule_is_and_can_go() -> None:
    old = sync(data=[])
    labelled = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    assert verdict(labelled, operation="UPDATE", old=old)[0]
    going = {**sync(), "metadata": {**old["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert verdict({**going, "spec": {}}, operation="UPDATE", old=old)[0]
    worse = sync(data=[], refreshInterval="2h")
    assert not verdict(worse, operation="UPDATE", old=old)[0]


@pytest.mark.parametrize(
    "document",
    [None, 5, "x", [], {}, {"apiVersion": 5, "kind": []}, {**sync(), "kind": "SecretStore"}],
    ids=str,
)
def test_what_is_no_such_object_is_refused(document: object) -> None:
    response = asked(document)["response"]
    assert (response["allowed"], response["status"]["code"]) == (False, 400)


@pytest.mark.parametrize(
    "document",
    [
        {**sync(), "metadata": None},
        {**sync(), "metadata": "x"},
        {**sync(), "spec": []},
        {**sync(), "spec": {"data": 5, "dataFrom": {"a": []}, "target": [1]}},
        {**sync(), "spec": {"refreshInterval": "1 fortnight"}},
    ],
    ids=lambda document: str(document)[-60:],
)
def test_wrong_types_are_refused(document: Document) -> None:
    assert not verdict(document)[0]


def test_an_old_object_of_any_form_makes_no_difference() -> None:
    olds: list[object] = [None, 5, "x", [], {}, {"spec": 5}, {"metadata": 5}]
    for old in olds:
        assert verdict(sync(), operation="UPDATE", old=old) == (True, "")
        assert not verdict(sync(data=[]), operation="UPDATE", old=old)[0]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"{",
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":5}}',
        b'{"apiVersion":"admission.k8s.io/v2","kind":"AdmissionReview","request":{"uid":"1"}}',
        b'{"apiVersion":"admission.k8s.io/v1","kind":"Review","request":{"uid":"1"}}',
        b'{"apiVersion":"v1","kind":"AdmissionReview","request":{"uid":"1","object":' + b"[" * 100_000,
    ],
    ids=lambda body: body[:20],
)
def test_what_is_no_review_cannot_be_answered(body: bytes) -> None:
    with pytest.raises(NotAReview):
        reviewed(body, KIND, CATALOG)


@pytest.mark.parametrize("depth", [100, 400, 900])
def test_nested_objects_are_answered(depth: int) -> None:
    nested: Document = {}
    for _ in range(depth):
        nested = {"a": nested}
    assert not verdict(sync(data=[], target=nested))[0]


def test_of_very_many_problems_some_are_told() -> None:
    _, message = verdict(sync(dataFrom=[{}] * 1000))
    lines = message.splitlines()
    assert len(lines) == 33
    assert lines[-1] == "and 968 more"
