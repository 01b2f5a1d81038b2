"""How strict a platform is with literals and constraints, and what is wrong with a platform."""

import pytest

from tests.unit.daemon.release.support import STORE, Compiled

SPEC = "  config: {a: {$opm: secret, $secretName: s, $dataKey: k, $constraints: {maxRunes: 6}}}\n"
LITERAL, TAG = "a: {value: canary}\n", "a: '@env(X)'\n"
RESOLVED = {"config.a": b"canary"}


@pytest.mark.parametrize(
    ("platform", "values", "errors", "warnings"),
    [
        pytest.param("", LITERAL, 0, 0, id="none"),
        pytest.param("  production: true\n", LITERAL, 0, 1, id="production"),
        pytest.param("  production: true\n", TAG, 0, 0, id="a tag in production"),
        pytest.param("  {production: true, literals: allow}\n", LITERAL, 0, 0, id="allowed in production"),
        pytest.param("  literals: warn\n", LITERAL, 0, 1, id="warn"),
        pytest.param("  literals: strict\n", LITERAL, 1, 0, id="strict"),
        pytest.param("  literals: strict\n", TAG, 1, 0, id="strict with tags"),
    ],
)
def test_literals(platform: str, values: str, errors: int, warnings: int) -> None:
    compiled = Compiled(SPEC, values, platform, answers=RESOLVED)
    assert (len(compiled.errors), len(compiled.warnings)) == (errors, warnings)
    assert "canary" not in compiled.told


def test_the_flag_is_stricter_than_the_platform() -> None:
    assert Compiled(SPEC, LITERAL, "  literals: allow\n", strict=True).errors == [
        "values.yaml:1 spec.values.a"
    ]


@pytest.mark.parametrize(
    ("values", "path"), [("a: {value: canary-}\n", "spec.values.a.value"), (TAG, "spec.values.a")]
)
@pytest.mark.parametrize("verdict", ["block", "warn"])
def test_constraints(verdict: str, values: str, path: str) -> None:
    compiled = Compiled(SPEC, values, f"  constraints: {verdict}\n", answers={"config.a": b"canary-"})
    told = compiled.errors if verdict == "block" else compiled.warnings
    assert told == [f"values.yaml:1 {path}"]
    assert "maxRunes" in compiled.told
    assert "canary" not in compiled.told
    assert compiled.result.checked.verdicts == {"config.a": "violated"}


@pytest.mark.parametrize(
    ("platform", "path"),
    [
        ("  literals: deny\n", "literals"),
        ("  production: 1\n", "production"),
        ("  constraints: [warn]\n", "constraints"),
        ("  refreshInterval: 1 hour\n", "refreshInterval"),
        ("  refreshInterval: 5\n", "refreshInterval"),
        ("  secretStoreRef: vault\n", "secretStoreRef"),
        ("  secretStoreRef: {kind: SecretStore}\n", "secretStoreRef.name"),
        ("  secretStoreRef: {name: v, kind: Store}\n", "secretStoreRef.kind"),
        ("  bindings: []\n", "bindings"),
        ("  bindings: {app: []}\n", "bindings.app"),
        ("  bindings: {app: {require: {}}}\n", "bindings.app.require"),
        ("  bindings: {app: {requires: {x: 1}}}\n", "bindings.app.requires.x"),
    ],
)
def test_a_mistake_of_the_operator_is_one_problem(platform: str, path: str) -> None:
    compiled = Compiled(SPEC, "a: {source: k8s-eso, path: p, remoteKey: r}\n", platform)
    if "secretStoreRef" in platform:
        assert compiled.errors == [f"platform.yaml:5 spec.{path}"]
    else:
        assert f"platform.yaml:5 spec.{path}" in compiled.errors


def test_requirements_are_bound_by_the_module_and_may_be_missing() -> None:
    spec = (
        "  requires: {pg: {host: string, pw: {$opm: secret, $secretName: s, $dataKey: k}}}\n"
        "  containers: {m: {env: {H: {value: '${requires.pg.host}'}, P: {from: requires.pg.pw}}}}\n"
    )
    bound = "  bindings: {app: {requires: {pg: {host: h, pw: {source: k8s-eso, path: p, remoteKey: r}}}}}\n"
    assert Compiled(spec, "", STORE + bound).container["env"] == [
        {"name": "H", "value": "h"},
        {"name": "P", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ]
    assert Compiled(spec, "", STORE).errors == [
        "platform.yaml:4 spec.bindings.app.requires.pg.host",
        "platform.yaml:4 spec.bindings.app.requires.pg.pw",
    ]
