"""The chart: what is committed is what is generated, and each of its values does what it says."""

import importlib.util
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from syncret.config.meta import Document, is_object
from syncret.daemon.install.chart.keys import Key, leaves
from syncret.daemon.install.chart.pods import WEBHOOK_PODS
from syncret.daemon.install.chart.read import Release, defaults, installation_of
from syncret.daemon.install.chart.values import VALUES
from syncret.daemon.install.crds import crds
from syncret.daemon.install.outline.nodes import Outline
from syncret.daemon.install.render import render
from syncret.providers.registry import Registry

ROOT = Path(__file__).parents[4]
CATALOG = Registry()

EVERYTHING: Document = {
    "image": {"repository": "registry.example/syncret"},
    "installCRDs": False,
    "replicaCount": 1,
    "leaderElect": True,
    "genericTargets": {"enabled": True},
    "podDisruptionBudget": {"enabled": True},
    "networkPolicy": {"enabled": True},
    "serviceMonitor": {"enabled": True},
    "metrics": {"service": {"enabled": True}},
    "grafanaDashboard": {"enabled": True},
    "webhook": {"certManager": {"enabled": True}},
}
"""Every part of an installation, so that each value can be seen."""

NEEDS: Mapping[str, Document] = {
    "installCRDs": {},
    "crds": {"installCRDs": True},
    "metrics.service.enabled": {"serviceMonitor": {}},
    **{
        f"metrics.listen.{name}": {"metrics": {"listen": {"secure": {"enabled": True}}}}
        for name in ("auth.enabled", "secure.certDir", "secure.certFile", "secure.keyFile")
    },
    **{f"webhook.{name}": {"webhook": {"separate": True}} for name in WEBHOOK_PODS},
    **{
        f"webhook.{name}": {"webhook": {}}
        for name in ("secretAnnotations", "lookaheadInterval", "certManager.enabled")
    },
    "leaderElection.enabled": {"leaderElect": False},
    "serviceMonitor.renderMode": {"serviceMonitor": {"enabled": True, "renderMode": "skipIfMissing"}},
}
"""What else must be chosen for a key to show."""

OTHERS: Mapping[str, Any] = {
    "fullnameOverride": "other",
    "egress": {"deny": []},
    "ownIdentity": {"mode": "open"},
    "livenessProbe.spec": {"httpGet": {"port": 9}},
    "podSecurityContext": {"fsGroup": 1},
    "webhook.hostUsers": False,
    "webhook.imagePullSecrets": [{"name": "a"}],
    "hostUsers": False,
    "log.level": "debug",
    "imagePullSecrets": [{"name": "a"}],
    "global.imagePullSecrets": [{"name": "a"}],
    "genericTargets.resources": [{"apiGroup": "a", "resources": ["b"]}],
    "global.compatibility.openshift.adaptSecurityContext": "force",
    "workTime": "7s",
    "exports.refreshInterval": "7m",
    "leaderElectionLeaseDuration": "30s",
    "leaderElectionRetryPeriod": "1s",
    "leaderElection.leaseDuration": "30s",
    "leaderElection.renew": "1s",
    "storeRequeueInterval": "7m",
    "webhook.certCheckInterval": "7m",
    "webhook.lookaheadInterval": "240h",
}
"""Values for keys whose kind alone does not tell what they may be."""


@pytest.fixture(autouse=True)
def crds_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a second, and are the same for all values."""
    monkeypatch.setattr("syncret.daemon.install.render.crds", made_once)


@cache
def made_once(catalog: Registry) -> Sequence[tuple[str, Outline]]:
    return tuple(crds(catalog))


def script() -> Any:  # noqa: ANN401  # a script, not a module
    spec = importlib.util.spec_from_file_location("chart_files", ROOT / "docs" / "hooks" / "chart.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_committed_chart_is_what_is_generated() -> None:
    chart = script()
    committed = {
        str(path.relative_to(chart.CHART)): path.read_text()
        for path in chart.CHART.rglob("*")
        if path.is_file()
    }
    made = chart.made()
    assert committed.keys() == made.keys(), "run: make chart"
    assert [name for name, text in made.items() if committed[name] != text] == [], "run: make chart"


MONITORS = "monitoring.coreos.com/v1/ServiceMonitor"


def test_without_helm_the_defaults_are_those_of_its_file() -> None:
    committed = yaml.load((script().CHART / "values.yaml").read_text(), yaml.CSafeLoader)
    assert committed == defaults(VALUES)


def test_no_pod_gets_variables_of_services() -> None:
    deployments = [
        each
        for separate in (True, False)
        for each in rendered({**EVERYTHING, "webhook": {"separate": separate}})
        if each["kind"] == "Deployment"
    ]
    assert len(deployments) == 4
    assert {each["spec"]["template"]["spec"]["enableServiceLinks"] for each in deployments} == {False}


LEAVES = [pytest.param(tuple(path.split(".")), key, id=path) for path, key in leaves(VALUES)]


def other(path: tuple[str, ...], key: Key) -> Any:  # noqa: ANN401  # any value
    """A value that is not the default."""
    name = ".".join(path)
    if name in OTHERS:
        return OTHERS[name]
    if "enum" in key.schema:
        return next(each for each in reversed(key.schema["enum"]) if each not in {key.default, ""})
    types = key.schema.get("type", "string")
    match types if isinstance(types, str) else types[0]:
        case "boolean":
            return not key.default
        case "integer":
            return (key.default or 1) + 1
        case "array":
            item = key.schema.get("items", {}).get("type")
            return ["a"] if item == "string" else [{"name": "a"}]
        case "object":
            return {"a": "b"}
        case _:
            return "other"


def rendered(values: Document) -> list[Document]:
    served = () if "renderMode" in values["serviceMonitor"] else (MONITORS,)
    return list(render(installation_of(values, Release(version="1.2.3", apis=served)), CATALOG))


def put(values: Document, path: tuple[str, ...], value: object) -> Document:
    made = deepcopy(values)
    place = made
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = value
    return made


@pytest.mark.parametrize(("path", "key"), LEAVES)
def test_each_value_has_its_effect_or_none_as_it_says(path: tuple[str, ...], key: Key) -> None:
    name = ".".join(path)
    base = deepcopy(EVERYTHING)
    for prefix, needed in NEEDS.items():
        if name == prefix or name.startswith(f"{prefix}."):
            base |= needed
    before = rendered(base)
    chosen: Any = base
    for each in path:
        chosen = chosen.get(each, key.default) if is_object(chosen) else key.default
    wanted = not chosen if isinstance(key.default, bool) else other(path, key)
    after = rendered(put(base, path, wanted))
    assert (after != before) is key.has_effect, key.about


def test_every_key_says_what_it_means() -> None:
    for path, key in leaves(VALUES):
        assert key.about.endswith("."), path
        assert key.has_effect != key.about.startswith("No effect"), path
