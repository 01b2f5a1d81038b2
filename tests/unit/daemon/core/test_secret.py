"""The Secret that is wanted, and whether one still is what was written."""

from base64 import b64encode
from copy import deepcopy

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core.digest import data_hash, text_hash
from syncret.daemon.core.ownership import DATA_HASH, MANAGED
from syncret.daemon.core.secret import (
    desired_secret,
    field_manager,
    is_valid,
    managed_keys,
    manager_of,
    secret_data,
    within_immutable,
)


def wanting(labels: dict[str, str] | None = None, **target: Json) -> ExternalSecret:
    metadata = {"name": "x", "namespace": "default", "uid": "u1", "labels": labels or {}}
    return msgspec.convert({"metadata": metadata, "spec": {"target": target}}, ExternalSecret)


def secret(data: dict[str, bytes], manages: Document | None = None, **rest: Json) -> Document:
    metadata: Document = {"name": "x", "namespace": "default", **rest.pop("metadata", {})}
    if manages is not None:
        manager = field_manager(wanting())
        metadata["managedFields"] = [
            {"manager": "somebody", "fieldsV1": {"f:data": {"f:theirs": {}}}},
            {"manager": manager, "fieldsV1": manages},
        ]
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded, **rest}


def written(data: dict[str, bytes]) -> Document:
    marks = {"labels": {MANAGED: "true"}, "annotations": {DATA_HASH: data_hash(data)}}
    return secret(data, metadata=marks)


def test_a_new_one() -> None:
    made = desired_secret(wanting({"team": "blue"}), None, {"b": b"\xff", "a": b"1"})
    assert list(made["data"]) == ["a", "b"]
    assert made["type"] == "Opaque"
    assert made["metadata"]["labels"]["team"] == "blue"
    assert made["metadata"]["labels"][MANAGED] == "true"
    assert made["metadata"]["annotations"] == {DATA_HASH: data_hash({"a": b"1", "b": b"\xff"})}
    assert is_valid(wanting(), made)


def test_one_without_values_is_not_written_twice() -> None:
    made = desired_secret(wanting(immutable=True), None, {})
    assert "data" not in made, "an API server keeps no empty data"
    again = desired_secret(wanting(immutable=True), made, {})
    assert again == made
    assert within_immutable(made, again) == (made, True)


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        pytest.param("Owner", {"new"}, id="Owner: only what is wanted"),
        pytest.param("Orphan", {"new"}, id="Orphan: likewise"),
        pytest.param("Merge", {"theirs", "new"}, id="Merge: foreign keys stay, former ones of ours go"),
        pytest.param("CreateOrMerge", {"theirs", "new"}, id="CreateOrMerge: likewise"),
    ],
)
def test_keys_that_were_there(policy: str, left: set[str]) -> None:
    there = secret({"theirs": b"1", "ours": b"2"}, {"f:data": {".": {}, "f:ours": {}}})
    before = deepcopy(there)
    made = desired_secret(wanting(creationPolicy=policy), there, {"new": b"3"})
    assert set(made["data"]) == left
    assert there == before, "what was observed is not changed"


def test_labels_and_annotations_of_former_writes_go_and_foreign_ones_stay() -> None:
    ours: Document = {"f:metadata": {"f:labels": {".": {}, "f:old": {}}, "f:annotations": {"f:gone": {}}}}
    metadata = {"labels": {"old": "1", "foreign": "1"}, "annotations": {"gone": "1", "kept": "1"}}
    made = desired_secret(wanting({"new": "1"}), secret({}, ours, metadata=metadata), {})
    assert {"new", "foreign"} <= made["metadata"]["labels"].keys()
    assert "old" not in made["metadata"]["labels"]
    assert set(made["metadata"]["annotations"]) == {"kept", DATA_HASH}


def test_an_immutable_one_keeps_its_data() -> None:
    there = secret({"a": b"old"}, immutable=True)
    made = desired_secret(wanting(immutable=True), there, {"a": b"new"})
    assert secret_data(made) == {"a": b"old"}
    assert within_immutable(there, made)[1]


def test_of_one_that_somebody_made_immutable_the_metadata_alone_is_written() -> None:
    there = secret({"a": b"old"}, immutable=True, type="Opaque")
    wanted = desired_secret(wanting({"new": "1"}), there, {"a": b"new"})
    possible, whole = within_immutable(there, wanted)
    assert not whole
    assert possible["data"] == there["data"]
    assert possible["metadata"]["labels"]["new"] == "1"


@pytest.mark.parametrize(
    ("observed", "policy", "valid"),
    [
        pytest.param(None, "Owner", False, id="gone"),
        pytest.param(None, "Orphan", True, id="an orphan is nobody's business"),
        pytest.param(written({"a": b"1"}), "Owner", True, id="as written"),
        pytest.param(written({"a": b"1"}) | {"data": {"a": "Mg=="}}, "Owner", False, id="other data"),
        pytest.param(secret({"a": b"1"}), "Owner", False, id="not marked"),
    ],
)
def test_is_valid(observed: Document | None, policy: str, *, valid: bool) -> None:
    assert is_valid(wanting(creationPolicy=policy), observed) is valid


def test_long_names_of_managers_are_replaced_by_their_digest() -> None:
    assert manager_of("x") == "externalsecrets.external-secrets.io/x"
    assert manager_of("x" * 27).endswith("x")
    assert manager_of("x" * 28) == f"externalsecrets.external-secrets.io/sha3/{text_hash('x' * 28)}"


def test_of_other_managers_nothing_is_taken() -> None:
    there = secret({}, {"f:data": {"f:a": {}}})
    assert managed_keys(there, "somebody", "data") == {"theirs"}
    assert managed_keys(there, "nobody", "data") == frozenset()
    assert managed_keys({}, "somebody", "data") == frozenset()
