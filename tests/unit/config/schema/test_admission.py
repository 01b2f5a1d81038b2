"""From a document to a resource: every kind read, defaulted and typed, and what is none of ours."""

from copy import deepcopy

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind, Metadata
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.generators import GeneratorObject
from syncret.config.resources.kinds import KINDS, Kinds
from syncret.config.resources.push_secret import PushSecret
from syncret.config.resources.secret_store import SecretStore
from syncret.config.schema.admission import Admission, admit
from tests.unit.config.support import (
    CATALOG,
    PasswordSpec,
    core,
    document,
    external_secret,
    messages,
    push_secret,
    store,
)


def generator(kind: str, spec: Json = None) -> Document:
    return {
        "apiVersion": "generators.external-secrets.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "g"},
        "spec": spec or {},
    }


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(external_secret(), id="ExternalSecret"),
        pytest.param(push_secret(), id="PushSecret"),
        pytest.param(store(), id="SecretStore"),
        pytest.param(store(kind="ClusterSecretStore"), id="ClusterSecretStore"),
        pytest.param(
            document("ClusterExternalSecret", {"externalSecretSpec": {}, "namespaces": ["a"]}),
            id="ClusterExternalSecret",
        ),
        pytest.param(
            document(
                "ClusterPushSecret",
                {"pushSecretSpec": {"secretStoreRefs": [], "selector": {"secret": {"name": "s"}}}},
            ),
            id="ClusterPushSecret",
        ),
        pytest.param(generator("Password"), id="generator"),
        pytest.param(
            generator("ClusterGenerator", {"kind": "UUID", "generator": {"uuidSpec": {}}}),
            id="ClusterGenerator",
        ),
        pytest.param(generator("GeneratorState", {"resource": {}, "state": {}}), id="GeneratorState"),
        pytest.param(core("Secret", data={"a": "YQ=="}), id="Secret"),
        pytest.param(core("ConfigMap", data={"a": "b"}), id="ConfigMap"),
        pytest.param(core("Namespace"), id="Namespace"),
        pytest.param(core("ServiceAccount", secrets=[{"name": "s"}]), id="ServiceAccount"),
    ],
)
def test_every_kind_is_read(given: Document) -> None:
    before = deepcopy(given)
    admitted = admit(given, CATALOG)
    assert [problem for problem in admitted.problems if problem.fatal] == []
    assert admitted.accepted
    assert admitted.kind is not None
    assert admitted.resource is not None
    assert admitted.resource.kind == given["kind"]
    assert admitted.resource.ref.name == given["metadata"]["name"]
    assert given == before


def test_an_external_secret_is_defaulted_and_typed() -> None:
    admitted = admit(
        external_secret(dataFrom=[{"sourceRef": {"generatorRef": {"kind": "UUID", "name": "u"}}}]), CATALOG
    )
    assert admitted.document == {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {
            "secretStoreRef": {"name": "s"},
            "data": [{"secretKey": "a", "remoteRef": {"key": "/a"}}],
            "dataFrom": [
                {
                    "sourceRef": {
                        "generatorRef": {
                            "kind": "UUID",
                            "name": "u",
                            "apiVersion": "generators.external-secrets.io/v1alpha1",
                        }
                    }
                }
            ],
            "target": {"creationPolicy": "Owner", "deletionPolicy": "Retain"},
            "refreshInterval": "1h0m0s",
        },
    }
    resource = admitted.resource
    assert isinstance(resource, ExternalSecret)
    assert resource.spec.target.creation_policy == "Owner"
    assert resource.spec.data[0].remote_ref.key == "/a"


def test_a_push_secret_is_defaulted_and_typed() -> None:
    data = [{"match": {"remoteRef": {"remoteKey": "r"}}}]
    admitted = admit(push_secret(data=data, dataTo=[{"storeRef": {"name": "s"}}]), CATALOG)
    resource = admitted.resource
    assert isinstance(resource, PushSecret)
    assert resource.spec.secret_store_refs[0].kind == "SecretStore"
    assert resource.spec.data[0].conversion_strategy == "None"
    assert admitted.document is not None
    assert admitted.document["spec"]["dataTo"] == [
        {"storeRef": {"name": "s", "kind": "SecretStore"}, "conversionStrategy": "None"}
    ]


def test_a_generator_is_read_by_its_own_model() -> None:
    admitted = admit(generator("Password", {"length": 8}), CATALOG)
    assert admitted.kind is not None
    assert admitted.kind.model is GeneratorObject[PasswordSpec]
    assert admitted.resource == GeneratorObject[PasswordSpec](
        api_version="generators.external-secrets.io/v1alpha1",
        kind="Password",
        metadata=Metadata(name="g", namespace="default"),
        spec=PasswordSpec(length=8),
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(None, [": must be an object with apiVersion and kind"], id="null"),
        pytest.param([], [": must be an object with apiVersion and kind"], id="array"),
        pytest.param({}, ["apiVersion: is required", "kind: is required"], id="empty"),
        pytest.param(
            {"apiVersion": 1, "kind": ""},
            ["apiVersion: must be a string", "kind: is required"],
            id="no texts",
        ),
        pytest.param(
            document("Nonsense"), ['kind: unknown kind "Nonsense"'], id="unknown kind of a group of ours"
        ),
        pytest.param(
            document("Password"),
            ['apiVersion: no kind "Password" in group "external-secrets.io"'],
            id="kind in the wrong group",
        ),
        pytest.param(
            document("ExternalSecret", version="v2"),
            ['apiVersion: ExternalSecret has no version "v2"'],
            id="unknown version",
        ),
    ],
)
def test_what_is_no_document_of_ours(given: Json, expected: list[str]) -> None:
    admitted = admit(given, CATALOG)
    assert messages(admitted.problems) == expected
    assert admitted.unknown_kind is None
    assert not admitted.accepted


def test_an_unknown_kind_is_no_ordinary_problem() -> None:
    admitted = admit({"apiVersion": "v1", "kind": "ExternalSecrets", "metadata": {}}, CATALOG)
    assert admitted.problems == ()
    assert admitted.unknown_kind is not None
    assert str(admitted.unknown_kind) == 'kind: unknown kind "ExternalSecrets" (did you mean ExternalSecret?)'
    assert not admitted.accepted


def test_an_old_version_is_read_as_the_new_one() -> None:
    old = external_secret() | {"apiVersion": "external-secrets.io/v1beta1"}
    admitted = admit(old, CATALOG)
    assert admitted.accepted
    assert admitted.document is not None
    assert admitted.document["apiVersion"] == "external-secrets.io/v1"
    assert [problem.path for problem in admitted.problems] == ["apiVersion"]
    assert admitted.problems[0].hint == "write external-secrets.io/v1"


def test_a_status_is_not_for_authors_to_write() -> None:
    admitted = admit(external_secret() | {"status": 3}, CATALOG)
    assert admitted.accepted
    assert admitted.document is not None
    assert "status" not in admitted.document


def test_a_kind_without_a_status_has_none() -> None:
    admitted = admit({**generator("UUID"), "status": {"a": 1}}, CATALOG)
    assert admitted.accepted
    assert messages(admitted.problems) == ["?status: unknown field, it is dropped"]


def test_32_bits_count_where_a_webhook_reads_them() -> None:
    problem = "spec.retrySettings.maxRetries: must fit into 32 bits"
    assert problem in messages(admit(store(retrySettings={"maxRetries": 2**31}), CATALOG).problems)


def test_durations_count_where_a_webhook_reads_them() -> None:
    assert not admit(external_secret(refreshInterval="1d"), CATALOG).accepted
    pushed = admit(push_secret(refreshInterval="1d"), CATALOG)
    assert pushed.accepted
    assert [problem.path for problem in pushed.problems] == ["spec.refreshInterval"]


def test_paths_of_a_generators_own_rules() -> None:
    assert messages(admit(generator("Password", {"length": 5000}), CATALOG).problems) == [
        "spec.length: is too long"
    ]
    inner = {"kind": "Password", "generator": {"passwordSpec": {"length": 5000}}}
    assert messages(admit(generator("ClusterGenerator", inner), CATALOG).problems) == [
        "spec.generator.passwordSpec.length: is too long"
    ]


def test_the_table_of_kinds() -> None:
    kinds = Kinds(CATALOG)
    names = kinds.names()
    assert len(names) == len(KINDS) + 2
    for name in names:
        kind = kinds.find(name)
        assert kind is not None
        assert kind.group_kind == name
        assert kind is kinds.find(name)
    assert kinds.find(GroupKind("generators.external-secrets.io", "Nonsense")) is None
    found = kinds.find(GroupKind("external-secrets.io", "SecretStore"))
    assert found is not None
    assert found.model is SecretStore
    assert (found.api_version, found.plural) == ("external-secrets.io/v1", "secretstores")


def test_warnings_tell_what_is_not_read_as_it_was_written() -> None:
    given = store()
    given["apiVersion"] = "external-secrets.io/v1beta1"
    given["spec"]["controler"] = "x"
    given["spec"]["refreshInterval"] = ["wrong"]
    before = deepcopy(given)
    admission = Admission(CATALOG)
    assert [problem.path for problem in admission.admit(given).warnings] == ["apiVersion", "spec.controler"]
    assert given == before
    assert admission.admit({**given, "apiVersion": "external-secrets.io/v7"}).warnings == ()
    assert admission.admit({"apiVersion": "apps/v1", "kind": "Deployment"}).warnings == ()
