"""A scenario gives the same result every time."""

from syncret.config.meta import Document
from syncret.daemon.simulate.scenario import Scenario, ScenarioSpec, Step
from syncret.daemon.simulate.simulation import run_scenario
from syncret.providers.registry import Registry

STORE: Document = {
    "apiVersion": "external-secrets.io/v1",
    "kind": "SecretStore",
    "metadata": {"name": "s", "namespace": "default"},
    "spec": {"provider": {"fake": {"data": [{"key": "k", "value": "v"}]}}},
}
WANTING: Document = {
    "apiVersion": "external-secrets.io/v1",
    "kind": "ExternalSecret",
    "metadata": {"name": "x", "namespace": "default"},
    "spec": {
        "secretStoreRef": {"name": "s"},
        "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
    },
}


def test_a_scenario_gives_the_same_result_every_time() -> None:
    spec = ScenarioSpec(steps=(Step(apply=(STORE, WANTING)),))
    scenario = Scenario(api_version="syncret.dev/v1alpha1", kind="Scenario", spec=spec)
    results = [run_scenario(scenario, Registry(), now=1_767_225_600.0) for _ in range(2)]
    assert len(results[0]["steps"][0]["objects"]) >= 3
    assert results[0] == results[1]
