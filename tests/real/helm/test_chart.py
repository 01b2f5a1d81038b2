"""The committed chart in the real Helm: what it makes of values is what is rendered without Helm."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from syncret.config.errors import ConfigError
from syncret.config.meta import Document
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.parser.eso_flags import passed_over
from syncret.daemon.cli.settings import settings_of_daemon
from syncret.daemon.install.chart.read import Release, installation_of
from syncret.daemon.install.render import render
from syncret.providers.registry import Registry
from tests.support.servers.helm import running as helm
from tests.support.servers.helm.running import CHART

CASES: dict[str, Document] = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text())
IMAGE = {"image": {"repository": "registry.example/syncret"}}
VERSION = yaml.safe_load((CHART / "Chart.yaml").read_text())["version"]

pytestmark = pytest.mark.slow


def complete(values: Document) -> Document:
    """With an image; CRDs only where a case is about them, as they are most of the work."""
    image = {**IMAGE["image"], **values.get("image", {})}
    return {"installCRDs": not values or "crds" in values, **values, "image": image}


def rendered(values: Document, apis: Sequence[str] = ()) -> list[Document]:
    release = Release(name="syncret", namespace="ops", version=VERSION, apis=apis)
    return list(render(installation_of(values, release), Registry()))


def by_name(documents: Sequence[Document]) -> dict[tuple[str, str, str], Document]:
    named = {
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each
        for each in documents
    }
    assert len(named) == len(documents), "no object is there twice"
    return named


@pytest.mark.parametrize("name", CASES)
def test_helm_makes_the_objects_that_are_rendered(name: str) -> None:
    values = complete(CASES[name])
    found = by_name(helm.template(CHART, values, "--namespace", "ops"))
    expected = by_name(json.loads(json.dumps(rendered(values))))
    assert found.keys() == expected.keys()
    for key, each in expected.items():
        assert found[key] == each


@pytest.mark.parametrize("name", CASES)
def test_the_daemon_takes_the_arguments_that_it_is_started_with(name: str) -> None:
    for each in rendered(complete(CASES[name])):
        if each["kind"] == "Deployment":
            container = each["spec"]["template"]["spec"]["containers"][0]
            kept, _ = passed_over(container["args"])
            settings = settings_of_daemon(parser().parse_args(kept))
            assert settings.kubernetes


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({}, "image.repository: is missing", id="no image"),
        pytest.param(
            {"image": {"repository": "ghcr.io/external-secrets/external-secrets"}},
            "image.repository: is that of another program",
            id="the operator's image",
        ),
        pytest.param(
            {**IMAGE, "serviceMonitor": {"enabled": True, "renderMode": "failIfMissing"}},
            "serviceMonitor.enabled: needs the CRD of ServiceMonitor",
            id="no CRD of a monitor",
        ),
        pytest.param(
            {**IMAGE, "podSpecExtra": {"volumes": [{"name": "a"}]}},
            "has a member that the installation makes itself",
            id="a member that is made anyway",
        ),
        pytest.param({**IMAGE, "replicas": 2}, "replicas", id="an unknown key"),
        pytest.param(
            {**IMAGE, "webhook": {"failurPolicy": "Fail"}}, "failurPolicy", id="an unknown key below"
        ),
        pytest.param({**IMAGE, "log": {"level": "loud"}}, "log", id="an unknown level"),
        pytest.param({**IMAGE, "replicaCount": "two"}, "replicaCount", id="a text for a number"),
        pytest.param(
            {**IMAGE, "metrics": {"listen": {"auth": {"enabled": True}}}},
            "metrics.listen.auth.enabled: needs metrics.listen.secure.enabled",
            id="a token in the clear",
        ),
        pytest.param({**IMAGE, "webhook": None}, "webhook", id="null for a map"),
    ],
)
def test_both_refuse_the_same(values: Document, message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        rendered(values)
    assert message in str(refusal.value)
    refused = helm.run_with(values, "template", "syncret", str(CHART))
    assert refused.returncode != 0
    assert message in refused.stderr


def test_a_key_that_is_nearly_right_is_named() -> None:
    with pytest.raises(ConfigError) as refusal:
        rendered({**IMAGE, "replicas": 2})
    (problem,) = refusal.value.problems
    assert (problem.path, problem.hint) == ("replicas", "did you mean replicaCount?")


def test_the_chart_is_linted() -> None:
    done = helm.run_with(IMAGE, "lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout


def test_what_a_cluster_serves_decides() -> None:
    apis = ("monitoring.coreos.com/v1/ServiceMonitor", "security.openshift.io/v1")
    values = complete({"serviceMonitor": {"enabled": True}, "podSecurityContext": {"runAsUser": 5, "a": "b"}})
    arguments = [argument for api in apis for argument in ("--api-versions", api)]
    found = by_name(helm.template(CHART, values, "--namespace", "ops", *arguments))
    assert found == by_name(json.loads(json.dumps(rendered(values, apis))))
    assert ("ServiceMonitor", "ops", "syncret") in found
    pod = found["Deployment", "ops", "syncret-controller"]["spec"]["template"]["spec"]
    assert pod["securityContext"] == {"a": "b"}
    assert "runAsUser" not in pod["containers"][0]["securityContext"]
