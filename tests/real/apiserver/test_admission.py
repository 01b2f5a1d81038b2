"""What the judge says of a document is what a real API server says that holds the exported CRDs."""

import time
from collections.abc import Mapping
from random import Random
from typing import Any, Final

import msgspec
import pytest

from syncret.config.errors import Severity
from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.kinds import Kind, Kinds
from syncret.config.schema.admission import admit
from syncret.config.schema.field_docs import fields_of
from syncret.config.schema.shape import shape_of
from syncret.config.schema.structural import Schema
from syncret.providers.registry import Registry
from tests.real.apiserver.drawing import Artist
from tests.real.apiserver.server import Server, server_with_crds
from tests.support.servers.kube.crds import SERVED_WITHIN

pytestmark = pytest.mark.slow

WRITTEN: Final = ("uid", "creationTimestamp", "generation", "managedFields", "namespace")
STORES: Final = ("SecretStore", "ClusterSecretStore")
EACH: Final = 40
EACH_STORE: Final = 400
LABELS: Final[tuple[Json, ...]] = ({"a": None}, {"a": "-"}, {"A.b/c": "d"}, {"a\n": "a"}, {"a": 1}, [])
OWNERS: Final[tuple[Json, ...]] = (None, [], [{}], [None], "x")


REGISTRY: Final = Registry()


@pytest.fixture(scope="module")
def server() -> Server:
    return server_with_crds(REGISTRY)


@pytest.mark.parametrize("name", [kind.kind for kind in Kinds(REGISTRY).names() if kind.group])
def test_drawn_documents(server: Server, name: str) -> None:
    kind, schema = server.kinds[name], Schema.of(server.kinds[name].model, REGISTRY, typed=Severity.WARNING)
    artist = Artist(Random(name))  # noqa: S311  # a seed, so that every run draws the same
    accepted = 0
    for _ in range(EACH_STORE if name in STORES else EACH):
        document = artist.document(kind.api_version, name, server.schemas[name])
        stored, refused = server.asked(document)
        admitted = schema.admit(document)
        wrong = [str(problem) for problem in admitted.problems if problem.fatal]
        broken = [] if wrong else rules_broken(kind, admitted.document)
        told = f"{document}\nrefused: {refused}\nwrong: {wrong} {broken}"
        assert not (wrong or any(broken)) or refused, told
        assert not refused or wrong or broken, told
        if stored is not None:
            assert admitted.document.get("spec") == stored.get("spec"), document
            accepted += 1
    assert accepted


@pytest.mark.parametrize(
    "metadata",
    [
        *({"labels": labels} for labels in LABELS),
        *({"labels": {"a": "b" * length}} for length in (63, 64)),
        *({"annotations": {key: "x"}} for key in ("", "a b", "A.EXAMPLE/b", "a/b/c")),
        *({"annotations": {"a": "é" * length}} for length in (131_071, 131_072)),
        *({"finalizers": names} for names in (["a"], [""], ["A/b"], ["orphan", "foregroundDeletion"], "a")),
        *({"name": name} for name in ("A", "", None, 5, "a" * 253, "a" * 254, "a..b", "a\n", "1", "..")),
        *({"generateName": name} for name in ("a-", "A-", "AB-", "A", "a" * 254, 5)),
        *({"creationTimestamp": when} for when in (None, "", "x", "2026-01-01T00:00:00Z", 5)),
        *({"managedFields": "x"}, {"selfLink": 5}, {"deletionGracePeriodSeconds": "5"}, {"namespace": {}}),
        *({"ownerReferences": owners} for owners in OWNERS),
        *(
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u", **change}]}
            for change in (
                *({}, {"apiVersion": "a/b/c"}, {"apiVersion": ""}, {"apiVersion": "a/v1"}, {"kind": "Event"}),
                *({"kind": ""}, {"name": ""}, {"uid": ""}, {"controller": "yes"}, {"controller": None}),
            )
        ),
    ],
    ids=lambda metadata: str(metadata)[:60],
)
def test_metadata(server: Server, metadata: Document) -> None:
    document = {
        "apiVersion": "generators.external-secrets.io/v1alpha1",
        "kind": "UUID",
        "metadata": {"name": "x", **metadata},
        "spec": {},
    }
    stored, refused = server.asked(document)
    judged = admit(document, REGISTRY)
    assert judged.accepted == (not refused), f"refused: {refused}\nwrong: {judged.problems}"
    if stored is not None and judged.document is not None:
        assert _said(judged.document["metadata"]) == _said(stored["metadata"])


def rules_broken(kind: Kind, document: Document) -> list[bool]:
    """Of each rule of the webhook that a sound document breaks, whether the CRD states all of it.

    Without a spec no rule is asked.
    """
    if kind.check is None or not kind.rules or "spec" not in document:
        return []
    whole = {rule.message for rule in kind.rules if rule.broken is not None}
    resource = msgspec.convert(document, kind.model)
    return [problem.message in whole for problem in kind.check(resource, REGISTRY) if problem.fatal]


def _said(metadata: Mapping[str, Any]) -> dict[str, Json]:
    """What an author said of it."""
    return {
        name: value for name, value in metadata.items() if name not in {*WRITTEN, "generateName"} and value
    }


def _published(server: Server, kind: Kind) -> dict[str, Any]:
    """The schema of a kind as `kubectl explain` asks for it; it is published some time after the CRD."""
    end = time.monotonic() + SERVED_WITHIN
    while time.monotonic() < end:
        answer = server.api.request("GET", f"/openapi/v3/apis/{kind.api_version}")
        schemas = answer.body.get("components", {}).get("schemas", {})
        found = next((schema for name, schema in schemas.items() if name.endswith(f".{kind.kind}")), None)
        if found is not None:
            return dict(found)
        time.sleep(0.1)
    raise AssertionError(f"{kind.kind} is not published")


@pytest.mark.parametrize("name", ["ExternalSecret", "ClusterSecretStore", "Password"])
def test_kubectl_explain_reads_the_descriptions_of_the_models(server: Server, name: str) -> None:
    kind = server.kinds[name]
    spec = _published(server, kind)["properties"]["spec"]
    found = next(field for field in fields_of(shape_of(kind.model), REGISTRY) if field.name == "spec")
    assert spec["description"] == found.text
    described = {each.name: each.text for each in fields_of(found.shape, REGISTRY)}
    assert {field: schema["description"] for field, schema in spec["properties"].items()} == described
