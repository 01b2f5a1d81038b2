"""Operator, flags of `export manifests` and values of the chart: where they install the same, they say it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
import yaml

from syncret.config.meta import Document
from syncret.daemon.cli.main import main

Objects: TypeAlias = Mapping[tuple[str, str], Document]

IMAGE: Final = ("--image", "registry.example.com/syncret:1.2.3")
NAMED: Final = ("--name", "external-secrets", "--namespace", "external-secrets")
CONFIG: Final = """
apiVersion: operator.openshift.io/v1alpha1
kind: ExternalSecretsConfig
metadata: {name: cluster}
"""
VALUES: Final[Document] = {
    "exports": {"enabled": False},  # the operator has none
    "fullnameOverride": "external-secrets",
    "nameOverride": "external-secrets",
    "installCRDs": False,
    "replicaCount": 1,
    "leaderElect": True,
    "webhook": {"separate": True},
    "metrics": {"service": {"enabled": True}},
}
FLAGS: Final = (*NAMED, "--webhook", "--set", "leaderElection.enabled=true")
IN_ONE: Final = {("Service", "external-secrets-metrics"), ("Service", "external-secrets-webhook")}
"""What differs where the webhook is a part of the daemon, as the flags have it."""
POD: Final = ("serviceAccountName", "automountServiceAccountToken", "enableServiceLinks", "volumes")
CONTAINER: Final = ("image", "env", "ports", "volumeMounts")
PROBES: Final = ("livenessProbe", "readinessProbe")
OWN_SETTINGS: Final = ("logFormat", "logLevel", "webhook.checkInterval", "--loglevel", "--zap-time-encoding")


def exported(capsys: pytest.CaptureFixture[str], *arguments: str) -> Objects:
    """The objects that `syncret export manifests` prints, without what each way labels as it likes."""
    assert main(["export", "manifests", *IMAGE, *arguments]) == 0
    found: dict[tuple[str, str], Document] = {}
    for each in yaml.load_all(capsys.readouterr().out, yaml.CSafeLoader):
        each["metadata"].pop("labels", None)
        found[each["kind"], each["metadata"]["name"]] = each
    return found


@pytest.fixture
def by_operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Objects:
    file = tmp_path / "config.yaml"
    file.write_text(CONFIG)
    return exported(capsys, "-f", str(file))


@pytest.fixture
def by_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Objects:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(VALUES))
    return exported(capsys, "--values", str(file), *NAMED)


def container(document: Document) -> Any:  # noqa: ANN401  # as the object has it
    (found,) = document["spec"]["template"]["spec"]["containers"]
    return found


def arguments(document: Document) -> set[str]:
    """Those of a container, but for settings that each way has its own default of."""
    return {each for each in container(document)["args"] if each.partition("=")[0] not in OWN_SETTINGS}


def test_every_object_of_the_chart_is_the_operators(by_operator: Objects, by_values: Objects) -> None:
    common = by_operator.keys() & by_values.keys()
    assert by_operator.keys() - common == {
        ("Namespace", "external-secrets"),
        ("Deployment", "external-secrets"),
    }
    assert by_values.keys() - common == {("Deployment", "external-secrets-controller")}
    same = [key for key in common if key[0] != "Deployment"]
    assert {key: by_operator[key] for key in same} == {key: by_values[key] for key in same}


@pytest.mark.parametrize(
    "name", ["external-secrets", "external-secrets-webhook", "external-secrets-cert-controller"]
)
def test_its_processes_are_the_operators(by_operator: Objects, by_values: Objects, name: str) -> None:
    theirs = f"{name}-controller" if name == "external-secrets" else name
    one, other = by_operator["Deployment", name], by_values["Deployment", theirs]
    pods = [each["spec"]["template"]["spec"] for each in (one, other)]
    assert {key: pods[0].get(key) for key in POD} == {key: pods[1].get(key) for key in POD}
    assert {key: container(one).get(key) for key in CONTAINER} == {
        key: container(other).get(key) for key in CONTAINER
    }
    for probe in PROBES:
        assert container(one)[probe]["httpGet"] == container(other)[probe]["httpGet"]
    assert arguments(one) == arguments(other)
    assert one["spec"]["selector"] == other["spec"]["selector"]


def test_flags_give_the_same_rights_and_webhooks(
    by_operator: Objects, capsys: pytest.CaptureFixture[str]
) -> None:
    by_flags = exported(capsys, *FLAGS)
    same = [key for key in by_operator.keys() & by_flags.keys() - IN_ONE if key[0] != "Deployment"]
    assert {"ClusterRole", "Role", "ServiceAccount", "ValidatingWebhookConfiguration"} <= {
        key[0] for key in same
    }
    assert {key: by_operator[key] for key in same} == {key: by_flags[key] for key in same}
    (core,) = (each for key, each in by_flags.items() if key[0] == "Deployment")
    assert container(core)["image"] == container(by_operator["Deployment", "external-secrets"])["image"]
