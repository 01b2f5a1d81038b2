"""Rules between fields: a real API server refuses by expressions what `validate` refuses, and no more."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.config.schema.admission import admit
from syncret.config.schema.crds import crd
from syncret.providers.registry import Registry
from tests.real.apiserver.server import Server, server_with_crds
from tests.suites.corpus.runners.cases import corpus

pytestmark = pytest.mark.slow

REGISTRY: Final = Registry()
TOKEN: Final = "kubernetes.io/service-account-token"
ACCOUNT: Final = "kubernetes.io/service-account.name"
SECRET: Final = {"name": "s", "key": "k"}
FIND: Final = {"find": {"name": {"regexp": "a"}}}
EXTRACT: Final = {"extract": {"key": "a"}}
GENERATED: Final = {"sourceRef": {"generatorRef": {"kind": "Password", "name": "p"}}}
REWRITE: Final = {"regexp": {"source": "a", "target": "b"}}
BAO: Final = {"server": "https://bao.example.com", "path": "kv"}


class Wrong(NamedTuple):
    """A spec that breaks one rule: the field that the server blames, and its words."""

    kind: str
    spec: Document
    field: str
    message: str
    told: str = ""
    """What `validate` says, if it says more."""


def _external_secret(field: str, message: str, told: str = "", **spec: Json) -> Wrong:
    whole = {"secretStoreRef": {"name": "s"}, "dataFrom": [EXTRACT], **spec}
    return Wrong("ExternalSecret", whole, field, message, told)


def _template(field: str, message: str, told: str = "", **template: Json) -> Wrong:
    target = {"template": template}
    return _external_secret(f"spec.target.template.{field}", message, told, target=target)


def _entry(entry: Document, field: str, message: str) -> Wrong:
    spec = {"secretStoreRefs": [{"name": "s"}], "selector": {"secret": {"name": "s"}}, "dataTo": [entry]}
    return Wrong("PushSecret", spec, f"spec.dataTo[0]{field}", message)


def _store(provider: str, spec: Document, field: str, message: str) -> Wrong:
    path = f"spec.provider.{provider}{field}"
    return Wrong("SecretStore", {"provider": {provider: spec}}, path, message)


def _delinea(**login: Json) -> Document:
    return {"serverURL": "https://x.example.com", **login}


NOT_OWNED: Final = "deletionPolicy=Delete must not be used when the controller doesn't own the secret"
NO_TARGET: Final = "templateFrom target is not allowed when targeting a Secret"
BY_TEMPLATE: Final = f'template.type="{TOKEN}" with templateFrom target="Annotations" is not allowed'
ONE_SOURCE: Final = "extract, find, or generatorRef cannot be set at the same time"
DOPPLER: Final = "Exactly one of 'secretRef' or 'oidcConfig' must be specified"
PULUMI: Final = {"organization": "o", "project": "p", "environment": "e"}
NO_LOGIN: Final = "either token, or both username and password, must be set"
ONE_PLACE: Final = "exactly one of value or secretRef must be set"

WRONG: Final = (
    _external_secret("spec", "either data or dataFrom should be specified", dataFrom=[]),
    *(
        _external_secret(
            "spec.target.deletionPolicy",
            NOT_OWNED,
            target={"deletionPolicy": "Delete", "creationPolicy": policy},
        )
        for policy in ("Merge", "None", "CreateOrMerge")
    ),
    _external_secret(
        "spec.target.deletionPolicy",
        "deletionPolicy=Merge must not be used with creationPolicy=None",
        target={"deletionPolicy": "Merge", "creationPolicy": "None"},
    ),
    _template(
        "type",
        'template.type="bootstrap.kubernetes.io/token" is not allowed',
        type="bootstrap.kubernetes.io/token",
    ),
    _template(
        "metadata.annotations",
        f'template.type="{TOKEN}" with annotation "{ACCOUNT}" is not allowed',
        type=TOKEN,
        metadata={"annotations": {ACCOUNT: "admin"}},
    ),
    *(
        _template("templateFrom", BY_TEMPLATE, type=TOKEN, templateFrom=[{"target": name, "literal": "a: b"}])
        for name in ("Annotations", "annotations", "ANNOTATIONS")
    ),
    *(
        _template(
            "templateFrom",
            NO_TARGET,
            f'templateFrom target="{name}" is not allowed when targeting a Secret',
            templateFrom=[{"literal": "a: b"}, {"target": name, "literal": "a: b"}],
        )
        for name in ("spec", "type", "spec.config", "metadata.labels.a")
    ),
    *(
        _external_secret("spec.dataFrom[1]", ONE_SOURCE, dataFrom=[EXTRACT, entry])
        for entry in ({**FIND, **EXTRACT}, {**FIND, **GENERATED}, {**EXTRACT, **GENERATED})
    ),
    _external_secret(
        "spec.dataFrom[0]",
        "either extract, find, or sourceRef must be set to dataFrom",
        dataFrom=[{"rewrite": [REWRITE]}],
    ),
    _entry({}, "", "storeRef must specify either name or labelSelector"),
    _entry(
        {"storeRef": {"name": "s"}, "remoteKey": "k", "rewrite": [REWRITE]},
        "",
        "remoteKey and rewrite are mutually exclusive: rewrite is only supported in per-key mode "
        "(without remoteKey)",
    ),
    _entry(
        {"storeRef": {"name": "s"}, "rewrite": [{**REWRITE, "transform": {"template": "a"}}]},
        ".rewrite[0]",
        "exactly one of regexp or transform must be set",
    ),
    _store(
        "aws",
        {"service": "SecretsManager", "region": "r", "customSessionTags": {"esoNamespace": "x"}},
        ".customSessionTags",
        "customSessionTags cannot contain automatically injected reserved keys: "
        "esoNamespace, esoStoreName, esoStoreKind",
    ),
    _store(
        "crd",
        {"resource": {"group": "", "version": "v1", "kind": "X"}},
        "",
        "one of auth or authRef is required",
    ),
    _store(
        "crd",
        {
            "resource": {"group": "", "version": "v1", "kind": "X"},
            "auth": {"serviceAccount": {"name": "a"}},
            "authRef": SECRET,
        },
        "",
        "at most one of the fields in [auth authRef] may be set",
    ),
    _store("doppler", {"auth": {}}, ".auth", DOPPLER),
    _store(
        "nebiusmysterybox",
        {"apiDomain": "x.example.com", "auth": {}},
        ".auth",
        "either serviceAccountCredsSecretRef or tokenSecretRef must be set",
    ),
    _store(
        "onepasswordSDK",
        {"vault": "v", "environment": "e", "auth": {"serviceAccountSecretRef": SECRET}},
        "",
        "at most one of the fields in [vault environment] may be set",
    ),
    _store(
        "openBao",
        {**BAO, "caBundle": "YQ==", "caProvider": {"type": "Secret", "name": "c"}},
        "",
        "at most one of the fields in [caBundle caProvider] may be set",
    ),
    _store(
        "openBao",
        {**BAO, "auth": {}},
        ".auth",
        "exactly one of the fields in [appRole tokenSecretRef userPass] must be set",
    ),
    _store(
        "openBao",
        {**BAO, "auth": {"appRole": {"secretRef": SECRET}}},
        ".auth.appRole",
        "exactly one of the fields in [roleId roleRef] must be set",
    ),
    _store("pulumi", PULUMI, "", "Exactly one of 'auth' or deprecated 'accessToken' must be specified"),
    _store(
        "pulumi",
        {**PULUMI, "auth": {}},
        ".auth",
        "Exactly one of 'accessToken' or 'oidcConfig' must be specified",
    ),
    _store("secretserver", _delinea(username={"value": "u"}), "", NO_LOGIN),
    _store("secretserver", _delinea(token={}), ".token", ONE_PLACE),
    Wrong(
        "GitlabDeployToken",
        {
            "name": "n",
            "scopes": ["read_registry"],
            "auth": {"token": {"secretRef": SECRET}},
            "projectID": "1",
            "groupID": "2",
        },
        "spec",
        "exactly one of projectID or groupID must be set",
    ),
)


@pytest.fixture(scope="module")
def server() -> Server:
    return server_with_crds(REGISTRY)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.kind} {wrong.message}"[:60])
def test_the_server_and_validate_refuse_the_same(server: Server, wrong: Wrong) -> None:
    kind = server.kinds[wrong.kind]
    document = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "x"},
        "spec": wrong.spec,
    }
    causes = {(cause["field"], cause["message"]) for cause in server.refused(document)}
    assert {field for field, _ in causes} == {wrong.field}
    assert all(message.endswith(f": {wrong.message}") for _, message in causes), causes
    problems = [problem for problem in admit(document, REGISTRY).problems if problem.fatal]
    assert any(
        problem.path.startswith(wrong.field) and problem.message == (wrong.told or wrong.message)
        for problem in problems
    ), problems


def _stated(value: Json) -> Iterator[str]:
    if is_object(value):
        yield from (rule["message"] for rule in _rules(value))
        value = list(value.values())
    if is_list(value):
        for each in value:
            yield from _stated(each)


def _rules(schema: Document) -> list[dict[str, Any]]:
    found: Json = schema.get("x-kubernetes-validations")
    return found if is_list(found) else []


def test_every_rule_of_every_crd_is_tried(server: Server) -> None:
    stated = {message for kind in server.kinds.values() for message in _stated(crd(kind, REGISTRY))}
    assert stated == {wrong.message for wrong in WRONG}


def _without_namespace(manifest: Document) -> Document:
    metadata: Json = manifest.get("metadata")
    if not is_object(metadata):
        return manifest
    return {**manifest, "metadata": {name: each for name, each in metadata.items() if name != "namespace"}}


ADMISSION: Final = [case for case in corpus(None).cases if case.file == "validation_cases.yaml"]


@pytest.mark.parametrize("want", ["accept", "reject"])
def test_no_rule_refuses_what_the_operator_accepts(server: Server, want: str) -> None:
    """And what the operator's CRDs refuse, ours do, too."""
    tried = 0
    for case in ADMISSION:
        manifest = _without_namespace(case.body["manifest"])
        kind = server.kinds.get(manifest.get("kind", ""))
        if case.body["want"] != want or kind is None or manifest.get("apiVersion") != kind.api_version:
            continue
        if want == "accept":
            assert server.asked(manifest)[1] == "", case.id
        elif case.body.get("layer") in {"schema", "cel"}:
            assert server.asked(manifest)[1] != "", case.id
        tried += 1
    assert tried > 20
