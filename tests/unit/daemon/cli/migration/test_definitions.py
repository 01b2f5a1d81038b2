"""What goes with ESO's installation is told before it goes, with what keeps it."""

from collections.abc import Sequence

from syncret.config.meta import Document
from syncret.daemon.cli.migration.definitions import Findings, advice, findings_of

HELM = {"meta.helm.sh/release-namespace": "eso", "meta.helm.sh/release-name": "external-secrets"}


def definition(plural: str, *stored: str, **annotations: str) -> Document:
    return {
        "metadata": {"name": f"{plural}.external-secrets.io", "annotations": annotations},
        "status": {"storedVersions": list(stored)},
    }


def configuration(name: str, *policies: str) -> Document:
    return {"metadata": {"name": name}, "webhooks": [{"failurePolicy": each} for each in policies]}


def commands(found: Findings) -> Sequence[str]:
    return [each for _, some in advice(found) for each in some]


def test_definitions_of_a_release_would_go_with_it() -> None:
    kept = {**HELM, "helm.sh/resource-policy": "keep"}
    found = findings_of(
        [
            definition("externalsecrets", "v1", **HELM),
            definition("secretstores", "v1", **kept),
            definition("pushsecrets", "v1alpha1"),
        ],
        [],
    )
    assert found.goes_with == {"eso/external-secrets": ["externalsecrets.external-secrets.io"]}
    (command,) = commands(found)
    assert "helm upgrade external-secrets" in command
    assert "--namespace eso" in command
    assert "resource-policy=keep" in command


def test_objects_of_the_older_version_are_written_again() -> None:
    found = findings_of(
        [definition("externalsecrets", "v1beta1", "v1"), definition("secretstores", "v1")], []
    )
    assert found.stored_before == ["externalsecrets.external-secrets.io"]
    assert [each.split()[1] for each in commands(found)] == ["get", "patch"]


def test_a_webhook_without_a_server_would_refuse_everything() -> None:
    found = findings_of(
        [],
        [configuration("externalsecret-validate", "Fail"), configuration("secretstore-validate", "Ignore")],
    )
    assert commands(found) == ["kubectl delete validatingwebhookconfiguration externalsecret-validate"]


def test_nothing_is_advised_where_there_is_nothing_to_do() -> None:
    assert commands(findings_of([definition("externalsecrets", "v1")], [])) == []
