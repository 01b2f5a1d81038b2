"""Reading `operatorSpec`, and the verdicts that need no value: entries, types, collisions, hints."""

from collections.abc import Sequence

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.core.exports.export import Export, export
from syncret.daemon.core.exports.spec import read_exports
from syncret.providers.work import Work

ENTRY = {"name": "o", "key": "k", "value": "'v'"}


def exported(spec: Document, secrets: dict[str, str] | None = None, status: Json = None) -> Export:
    resource = {"metadata": {"name": "r"}, "spec": {"operatorSpec": spec}, "status": status}
    return export(resource, secrets or {}, Work())


def classes(found: Export) -> Sequence[str]:
    return [f"{problem.stage} {problem.kind} {problem.path}" for problem in found.problems]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param("text", "invalid_entry ", id="no mapping"),
        pytest.param({**ENTRY, "name": None}, "invalid_entry .name", id="no name"),
        pytest.param({**ENTRY, "name": "a" * 254}, "invalid_entry .name", id="long name"),
        pytest.param({**ENTRY, "name": 1}, "invalid_entry .name", id="number"),
        pytest.param({**ENTRY, "key": ".."}, "bad_key .key", id="illegal key"),
        pytest.param({"name": "o", "key": "k"}, "invalid_entry ", id="neither"),
        pytest.param({**ENTRY, "valueMap": "{'a': 'b'}"}, "invalid_entry ", id="both"),
        pytest.param(
            {"name": "o", "key": "k", "valueMap": "{'a': 'b'}"},
            "unexpected_destination_key .key",
            id="map with key",
        ),
        pytest.param({"name": "o", "value": "'v'"}, "missing_destination_key .value", id="text without key"),
        pytest.param({**ENTRY, "value": "{'a': 'b'}"}, "output_type .value", id="map as a text"),
        pytest.param({"name": "o", "valueMap": "'a'"}, "output_type .valueMap", id="text as a map"),
        pytest.param({**ENTRY, "value": "1"}, "output_type .value", id="number as a text"),
        pytest.param({"name": "o", "valueMap": "{{}: 'a'}"}, "output_type .valueMap", id="map as a key"),
        pytest.param(
            {**ENTRY, "labels": {"a/b/c": "'x'"}}, 'invalid_entry .labels["a/b/c"]', id="label's key"
        ),
        pytest.param({**ENTRY, "labels": {"a": 1}}, "invalid_entry .labels.a", id="label of a number"),
        pytest.param(
            {**ENTRY, "annotations": {"a": "1"}}, "output_type .annotations.a", id="annotation's type"
        ),
        pytest.param({**ENTRY, "annotations": []}, "invalid_entry .annotations", id="annotations"),
        pytest.param({**ENTRY, "annotations": {"a": "secret.b"}}, "undeclared .annotations.a", id="secret"),
    ],
)
def test_refused(entry: Json, expected: str) -> None:
    kind, path = expected.split(" ")
    found = exported({"dynamicConfigMaps": [None, entry]})
    assert classes(found) == [f"check {kind} operatorSpec.dynamicConfigMaps[1]{path}"]
    assert (found.hints, found.made) == ((), ())


def test_a_map_with_a_key_in_the_shipped_spelling() -> None:
    found = exported({"secretExpressions": [{**ENTRY, "value": "{'a': 'b'}"}]})
    assert classes(found) == ["check unexpected_destination_key operatorSpec.secretExpressions[0].value"]


def test_a_value_without_a_key_may_be_a_map() -> None:
    found = exported({"secretExpressions": [{"name": "o", "value": "{'a': 'b'}"}]})
    assert [made.data for made in found.made] == [{"a": "b"}]
    found = exported({"secretExpressions": [{"name": "o", "value": "self.metadata.name"}]})
    assert classes(found) == ["run missing_destination_key operatorSpec.secretExpressions[0].value"]


def test_a_list_must_be_one() -> None:
    assert classes(exported({"dynamicSecrets": ENTRY})) == ["check invalid_entry operatorSpec.dynamicSecrets"]
    assert read_exports({"spec": {"operatorSpec": "text"}}).entries == []


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param(
            {"dynamicSecrets": [ENTRY], "secretExpressions": [ENTRY]},
            "secretExpressions[0].key",
            id="spellings",
        ),
        pytest.param(
            {"secrets": {"key1": {"name": "o", "key": "k"}}, "dynamicSecrets": [ENTRY]},
            "dynamicSecrets[0].key",
            id="static",
        ),
        pytest.param(
            {
                "dynamicSecrets": [
                    {**ENTRY, "labels": {"a": "'x'"}},
                    {**ENTRY, "key": "l", "labels": {"a": "'x'"}},
                ]
            },
            "dynamicSecrets[1].labels.a",
            id="labels",
        ),
    ],
)
def test_collisions(spec: Document, path: str) -> None:
    assert classes(exported(spec)) == [f"check collision operatorSpec.{path}"]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"dynamicSecrets": [ENTRY], "dynamicConfigMaps": [ENTRY]}, id="two kinds"),
        pytest.param({"dynamicSecrets": [ENTRY, {**ENTRY, "key": "K"}]}, id="letters of another case"),
        pytest.param({"dynamicSecrets": [ENTRY, {**ENTRY, "name": "p"}]}, id="two objects"),
    ],
)
def test_no_collision(spec: Document) -> None:
    assert not exported(spec).problems


def test_static_entries() -> None:
    spec: Document = {
        "secrets": {"key1": {"name": "o", "key": "key1"}, "host": {"name": "o", "key": "host"}, "none": None},
        "configMaps": {"id": {"name": "c", "key": "id"}},
        "dynamicSecrets": [{**ENTRY, "value": "secret.key2"}],
    }
    found = exported(spec, {"key1": "a", "key2": "b", "other": "c"}, {"host": "h", "id": "i"})
    assert found.hints == ["host", "key1", "key2"]
    assert [made.data for made in found.made] == [{"key1": "a", "host": "h", "k": "b"}, {"id": "i"}]
    missing = exported({"configMaps": {"id": {"name": "c", "key": "id"}}})
    assert classes(missing) == ["run missing_key operatorSpec.configMaps.id"]


def test_a_static_entry_must_be_whole() -> None:
    spec: Document = {
        "secrets": {"a": "text", "b": {"name": "o"}, "c": {"key": "k"}, "d": {"name": "o", "key": "/"}}
    }
    kinds = ["invalid_entry operatorSpec.secrets.a", "invalid_entry operatorSpec.secrets.b.key"]
    kinds += ["invalid_entry operatorSpec.secrets.c.name", "bad_key operatorSpec.secrets.d.key"]
    assert classes(exported(spec)) == [f"check {kind}" for kind in kinds]


def test_texts_that_no_encoding_has() -> None:
    spec: Document = {
        "dynamicSecrets": [{**ENTRY, "value": "'\ud800'"}, {**ENTRY, "labels": {"a": "'\udfff'"}}]
    }
    kinds = ["invalid_entry operatorSpec.dynamicSecrets[0].value"]
    kinds += ["invalid_entry operatorSpec.dynamicSecrets[1].labels.a"]
    assert classes(exported(spec)) == [f"check {kind}" for kind in kinds]
