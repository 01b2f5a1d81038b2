"""Documents of no kind of ours: misspelt ones are errors, those of other tools are notes."""

import pytest

from syncret.config.errors import Severity
from syncret.config.meta import Document
from syncret.config.schema.admission import admit
from tests.unit.config.support import CATALOG


def noted(file: str, document: Document) -> str | None:
    note = admit(document, CATALOG).foreign(file)
    assert note is None or note.severity is Severity.NOTE
    return None if note is None else note.message


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("apps/v1", "Deployment"),
        ("v1", "Service"),
        ("v1", "Pod"),
        ("batch/v1", "CronJob"),
        ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        ("argoproj.io/v1alpha1", "Application"),
        ("bitnami.com/v1alpha1", "SealedSecret"),
        ("secrets.hashicorp.com/v1beta1", "VaultAuth"),
        ("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass"),
        ("grafana.integreatly.org/v1beta1", "Grafana"),
        ("kubernetes-client.io/v1", "ExternalSecret"),
    ],
)
def test_objects_of_other_groups_are_passed_over(version: str, kind: str) -> None:
    document = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}

    assert (noted("a.yaml", document) or "").startswith(kind)
    assert not admit(document, CATALOG).accepted


@pytest.mark.parametrize(
    ("version", "kind", "problem"),
    [
        ("external-secrets.io/v1", "ExternalSecrets", "did you mean ExternalSecret?"),
        ("external-secret.io/v1", "ExternalSecret", "the group is external-secrets.io"),
        ("externalsecrets.io/v1", "SecretStore", "the group is external-secrets.io"),
        ("external-secrets.k8s.io/v1", "Store", "did you mean external-secrets.io?"),
        ("generator.external-secrets.io/v1alpha1", "UUID", "the group is generators.external-secrets.io"),
        ("v1", "ExternalSecret", "the group is external-secrets.io"),
        ("v1", "Secrt", "did you mean Secret?"),
        ("v1", "Deployment", "unknown kind"),
        ("syncret.dev/v1alpha1", "Scenario", "run it with `syncret simulate`"),
    ],
)
def test_misspelt_groups_and_kinds_are_errors(version: str, kind: str, problem: str) -> None:
    admitted = admit({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}, CATALOG)

    assert admitted.foreign("a.yaml") is None
    assert [each.fatal for each in admitted.all_problems] == [True]
    assert problem in str(admitted.all_problems[0])


@pytest.mark.parametrize(
    ("file", "document"),
    [
        ("kustomization.yaml", {"resources": ["a.yaml"]}),
        ("base/kustomization.yml", {"kind": "Kustomization", "resources": []}),
        ("Chart.yaml", {"apiVersion": "v2", "name": "app", "version": "1"}),
        ("values.yaml", {"replicas": 3, "metadata": {}}),
        ("values-prod.yaml", {"data": {"a": 1}}),
        ("values.prod.yaml", {"spec": {}}),
        ("renovate.json", {"extends": ["x"]}),
    ],
)
def test_files_of_tools_are_passed_over(file: str, document: Document) -> None:
    assert "is passed over" in (noted(file, document) or "")


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"metadata": {"name": "x"}},
        {"stringData": {"a": "b"}},
        {"apiversion": "external-secrets.io/v1", "Kind": "ExternalSecret"},
        {"apiVersion": "external-secrets.io/v1", "spec": {}},
        {"kind": "SecretStore"},
    ],
)
def test_objects_without_a_kind_stay_errors(document: Document) -> None:
    assert noted("a.yaml", document) is None
    assert not admit(document, CATALOG).accepted
