import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.meta import GroupKind
from syncret.config.resources.cluster import ClusterExternalSecret
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import Kinds
from syncret.config.resources.push_secret import PushDataTo, PushSecret, PushSecretStatus
from syncret.config.resources.secret_store import SecretStore
from syncret.config.schema.docstrings import described
from syncret.config.schema.openapi import openapi
from tests.unit.config.support import CATALOG, VaultSpec

NAME = {
    "type": "string",
    "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    "minLength": 1,
    "maxLength": 253,
}


def at(schema: Json, path: str) -> Json:
    """The schema of a field, without its description."""
    for step in path.split("."):
        schema = schema["items"] if step == "[]" else schema["properties"][step]
    return {name: value for name, value in schema.items() if name != "description"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("metadata", {"type": "object"}),
        ("kind", {"type": "string"}),
        ("spec.refreshInterval", {"type": "string", "default": "1h0m0s"}),
        ("spec.target.name", NAME),
        ("spec.target.immutable", {"type": "boolean"}),
        ("spec.target.template.data", {"type": "object", "additionalProperties": {"type": "string"}}),
        ("spec.data.[].remoteRef.nullBytePolicy", {"type": "string", "enum": ["Fail", "Ignore"]}),
        ("spec.dataFrom.[].rewrite.[].merge.into", {"type": "string", "default": ""}),
        ("status.refreshTime", {"type": "string", "format": "date-time", "nullable": True}),
    ],
)
def test_fields_of_an_external_secret(path: str, expected: object) -> None:
    assert at(openapi(ExternalSecret, CATALOG), path) == expected


def test_objects_say_what_they_need() -> None:
    schema = openapi(ExternalSecret, CATALOG)
    assert at(schema, "spec.target")["default"] == {"creationPolicy": "Owner", "deletionPolicy": "Retain"}
    assert at(schema, "spec.data.[]")["required"] == ["remoteRef", "secretKey"]
    assert at(schema, "spec.syncWindows.windows")["minItems"] == 1
    rewrite = at(schema, "spec.dataFrom.[].rewrite.[]")
    assert (rewrite["minProperties"], rewrite["maxProperties"]) == (1, 1)
    assert at(openapi(ClusterExternalSecret, CATALOG), "spec")["required"] == ["externalSecretSpec"]
    assert "required" not in schema


def test_rules_become_validations() -> None:
    assert [rule["message"] for rule in openapi(PushDataTo, CATALOG)["x-kubernetes-validations"]] == [
        rule.message for rule in PushDataTo.RULES
    ]


def test_what_is_left_open_is_kept() -> None:
    kept = {"x-kubernetes-preserve-unknown-fields": True}
    assert at(openapi(PushSecret, CATALOG), "spec.data.[].metadata") == kept
    synced = at(openapi(PushSecretStatus, CATALOG), "syncedPushSecrets")
    assert synced["additionalProperties"]["additionalProperties"]["required"] == ["match"]


def test_a_store_lists_the_providers_of_the_catalog() -> None:
    spec = at(openapi(SecretStore, CATALOG), "spec")
    assert spec["required"] == ["provider"]
    provider = spec["properties"]["provider"]
    assert (list(provider["properties"]), provider["minProperties"], provider["maxProperties"]) == (
        ["fake", "vault"],
        1,
        1,
    )
    assert at(provider, "vault.version") == {"type": "string", "enum": ["v1", "v2"], "default": "v2"}
    assert at(spec, "refreshInterval") == {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
    }
    assert at(spec, "retrySettings.maxRetries") == {"type": "integer", "format": "int32"}


def test_fields_are_described_and_have_examples_outside_of_crds() -> None:
    crd, schema = (openapi(ExternalSecret, CATALOG, examples=on) for on in (False, True))
    interval = schema["properties"]["spec"]["properties"]["refreshInterval"]
    text = interval["description"]
    assert text.startswith("How often the values are read again;")
    assert interval["examples"] == ["15m"]
    assert crd["description"] == "Keeps one target in sync with values in stores."
    assert crd["properties"]["spec"]["properties"]["refreshInterval"]["description"] == text
    assert "examples" not in msgspec.json.encode(crd).decode()
    assert crd["properties"]["metadata"] == {"type": "object"}, "an API server accepts nothing else there"


def test_providers_are_described_by_their_spec() -> None:
    provider = openapi(SecretStore, CATALOG)["properties"]["spec"]["properties"]["provider"]
    assert provider["properties"]["vault"]["description"] == described(VaultSpec).model.text


def test_a_generator_has_the_schema_of_its_spec() -> None:
    kind = Kinds(CATALOG).find(GroupKind("generators.external-secrets.io", "Password"))
    assert kind is not None
    schema = openapi(kind.model, CATALOG)
    assert at(schema, "spec.noUpper") == {"type": "boolean", "default": False}
    assert at(schema, "spec.secretKeys") == {"type": "array", "items": {"type": "string"}, "minItems": 1}
    assert schema["properties"]["metadata"] == {"type": "object"}
