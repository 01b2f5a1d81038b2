"""CRDs are what kubectl and a cluster of the External Secrets Operator expect. Real servers: `tests/real`."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind, is_list, is_object
from syncret.config.resources.base import GENERATORS_GROUP, GROUP
from syncret.config.resources.kinds import Kind, Kinds
from syncret.config.schema.crds import LARGEST, applied_size, crd
from syncret.providers.registry import Registry

REGISTRY = Registry()
KINDS = Kinds(REGISTRY)
OURS = [name for name in KINDS.names() if name.group]


def kind_of(name: GroupKind) -> Kind:
    kind = KINDS.find(name)
    assert kind is not None
    return kind


def definition(name: str, group: str = GROUP, **options: bool) -> Document:
    return crd(kind_of(GroupKind(group, name)), REGISTRY, **options)


def versions(document: Document) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in document["spec"]["versions"]}


def members(value: Json, name: str) -> Iterator[Json]:
    """All members of that name, however deep."""
    if is_object(value) and name in value:
        yield value[name]
    for each in value.values() if is_object(value) else value if is_list(value) else ():
        yield from members(each, name)


def without(value: Json, name: str) -> Json:
    """The value without its texts and lists of that name, however deep; a field may have the name, too."""
    if is_list(value):
        return [without(each, name) for each in value]
    if not is_object(value):
        return value
    return {key: without(each, name) for key, each in value.items() if key != name or is_object(each)}


@pytest.mark.parametrize(
    ("group", "name", "short", "categories"),
    [
        (GROUP, "ExternalSecret", ["es"], ["external-secrets"]),
        (GROUP, "PushSecret", ["ps"], ["external-secrets"]),
        (GROUP, "ClusterPushSecret", None, ["external-secrets"]),
        (GENERATORS_GROUP, "GeneratorState", ["gs"], ["external-secrets", "external-secrets-generators"]),
        (GENERATORS_GROUP, "Password", None, ["external-secrets", "external-secrets-generators"]),
    ],
)
def test_names(group: str, name: str, short: list[str] | None, categories: list[str]) -> None:
    document = definition(name, group)
    names = document["spec"]["names"]
    assert (names["kind"], names.get("shortNames"), names["categories"]) == (name, short, categories)
    assert document["metadata"]["name"] == f"{names['plural']}.{group}"
    assert document["metadata"]["labels"] == {"external-secrets.io/component": "controller"}


@pytest.mark.parametrize(
    ("group", "name", "columns", "subresources"),
    [
        (
            GROUP,
            "ExternalSecret",
            ["StoreType", "Store", "Refresh Interval", "Status", "Ready", "Last Sync"],
            {"status": {}},
        ),
        (GROUP, "SecretStore", ["AGE", "Status", "Capabilities", "Ready"], {"status": {}}),
        (GROUP, "ClusterSecretStore", ["AGE", "Status", "Capabilities", "Ready"], {"status": {}}),
        (GROUP, "ClusterExternalSecret", ["Store", "Refresh Interval", "Ready"], {"status": {}}),
        (GROUP, "PushSecret", ["AGE", "Status", "Last Sync"], {"status": {}}),
        (GROUP, "ClusterPushSecret", ["AGE", "Status"], {"status": {}}),
        (GENERATORS_GROUP, "GeneratorState", ["GC Deadline", "Age"], {}),
        (GENERATORS_GROUP, "ClusterGenerator", [], {"status": {}}),
        (GENERATORS_GROUP, "UUID", [], {"status": {}}),
    ],
)
def test_columns_and_subresources(group: str, name: str, columns: list[str], subresources: Document) -> None:
    stored = definition(name, group)["spec"]["versions"][0]
    assert [each["name"] for each in stored.get("additionalPrinterColumns", [])] == columns
    assert stored["subresources"] == subresources


@pytest.mark.parametrize("served", [False, True])
@pytest.mark.parametrize("name", OURS, ids=str)
def test_one_version_is_stored_and_older_ones_are_deprecated(name: GroupKind, served: bool) -> None:  # noqa: FBT001
    kind = kind_of(name)
    document = crd(kind, REGISTRY, serve_v1beta1=served)
    found = versions(document)
    assert tuple(found) == kind.versions
    stored, *older = found.values()
    assert (stored["served"], stored["storage"], "deprecated" in stored) == (True, True, False)
    assert [(each["served"], each["storage"], each["deprecated"]) for each in older] == [
        (served, False, True) for _ in older
    ]
    assert document["spec"].get("conversion") == ({"strategy": "None"} if older else None)


@pytest.mark.parametrize("options", [{}, {"serve_v1beta1": True}, {"compat": True}], ids=str)
@pytest.mark.parametrize("name", OURS, ids=str)
def test_client_side_apply_has_room_for_its_copy(name: GroupKind, options: dict[str, bool]) -> None:
    document = crd(kind_of(name), REGISTRY, **options)
    escaped = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&":
        escaped = escaped.replace(character, f"\\u{ord(character):04x}")
    assert applied_size(document) == len(escaped.encode()) <= LARGEST


def test_descriptions_are_shorter_only_where_a_crd_would_be_too_large() -> None:
    def interval(document: Document, version: str) -> Json:
        schema = versions(document)[version]["schema"]["openAPIV3Schema"]
        return schema["properties"]["spec"]["properties"]["refreshInterval"].get("description")

    whole = interval(definition("SecretStore"), "v1")
    assert whole.startswith("How often the store is checked")
    assert ";" in whole
    served = definition("SecretStore", serve_v1beta1=True)
    assert interval(served, "v1") == whole.partition(";")[0]
    assert interval(served, "v1beta1") is None
    assert interval(definition("ExternalSecret", serve_v1beta1=True), "v1").count(";") == 1


def test_a_served_version_has_the_fields_of_the_stored_one() -> None:
    for name in ("ExternalSecret", "ClusterSecretStore"):
        found = versions(definition(name, serve_v1beta1=True))
        assert without(found["v1"]["schema"], "description") == found["v1beta1"]["schema"]


@pytest.mark.parametrize("name", OURS, ids=str)
def test_compat_is_the_same_without_rules(name: GroupKind) -> None:
    strict, compat = (crd(kind_of(name), REGISTRY, compat=on) for on in (False, True))
    assert not list(members(compat, "x-kubernetes-validations"))
    assert without(strict, "x-kubernetes-validations") == compat


def test_rules_of_the_webhook_are_stated_below_the_spec_of_that_kind_alone() -> None:
    def messages(document: Document, *path: str) -> set[str]:
        found: Json = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for step in path:
            found = found["properties"][step]
        return {rule["message"] for rules in members(found, "x-kubernetes-validations") for rule in rules}

    stated = messages(definition("ExternalSecret"), "spec")
    assert stated == {rule.message for rule in kind_of(GroupKind(GROUP, "ExternalSecret")).rules}
    assert "either data or dataFrom should be specified" in stated
    assert messages(definition("ClusterExternalSecret")) == set(), "the operator accepts any spec here"


def test_label_selectors_are_applied_as_a_whole() -> None:
    schema = definition("ClusterPushSecret")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    selectors = schema["properties"]["spec"]["properties"]["namespaceSelectors"]
    assert selectors["items"]["x-kubernetes-map-type"] == "atomic"
