"""What authors declare: types, defaults, choices, and sensitive fields that must not become text."""

import pytest

from tests.unit.daemon.release.support import Compiled

SECRET = "{$opm: secret, $secretName: s, $dataKey: k}"


@pytest.mark.parametrize(
    ("declared", "path"),
    [
        pytest.param("strng", "spec.config.a", id="type"),
        pytest.param("7", "spec.config.a", id="number"),
        pytest.param("", "spec.config.a", id="nothing"),
        pytest.param("{$type: int, $default: x}", "spec.config.a.$default", id="default of another type"),
        pytest.param("{$type: int, $default: true}", "spec.config.a.$default", id="a boolean is no int"),
        pytest.param(
            "{$type: string, $default: c, $oneOf: [a, b]}", "spec.config.a.$default", id="default not allowed"
        ),
        pytest.param("{$type: string, $oneOf: [a, 1]}", "spec.config.a.$oneOf[1]", id="choice"),
        pytest.param("{$type: string, $oneOf: a}", "spec.config.a.$oneOf", id="choices"),
        pytest.param("{$typ: string}", "spec.config.a.$typ", id="member"),
        pytest.param("{$default: 1}", "spec.config.a.$type", id="no type"),
        pytest.param("{$secretName: s, $dataKey: k}", "spec.config.a.$opm", id="no mark"),
        pytest.param("{$dataKey: k}", "spec.config.a.$opm", id="no mark, one member"),
        pytest.param("{$opm: Secret, $secretName: s, $dataKey: k}", "spec.config.a.$opm", id="other mark"),
        pytest.param("{$opm: secret, $secretname: s, $dataKey: k}", "spec.config.a.$secretname", id="typo"),
        pytest.param("{$opm: secret, $secretName: S, $dataKey: k}", "spec.config.a.$secretName", id="name"),
        pytest.param("{$opm: secret, $secretName: s, $dataKey: a/b}", "spec.config.a.$dataKey", id="key"),
        pytest.param("{$opm: secret, $secretName: s, $dataKey: .}", "spec.config.a.$dataKey", id="dot"),
        pytest.param("{$opm: secret, $secretName: s, $dataKey: ..k}", "spec.config.a.$dataKey", id="dots"),
        pytest.param(
            "{$opm: secret, $secretName: s, $dataKey: k, $optional: 1}",
            "spec.config.a.$optional",
            id="optional",
        ),
        pytest.param(
            "{$opm: secret, $secretName: s, $dataKey: k, value: canary}",
            "spec.config.a.value",
            id="a module is published",
        ),
        pytest.param(
            "{$type: any, $default: {x: {$opm: secret, $secretName: s, $dataKey: k, value: canary}}}",
            "spec.config.a.$default",
            id="nor in a default",
        ),
    ],
)
def test_a_mistake_of_the_author_is_one_problem(declared: str, path: str) -> None:
    compiled = Compiled(f"  config:\n    a: {declared}\n", "a: {value: canary}\n")
    assert compiled.errors[0] == f"module.yaml:6 {path}"
    assert len([each for each in compiled.errors if each.startswith("module")]) == 1
    assert "canary" not in compiled.told
    assert not compiled.result.items


@pytest.mark.parametrize(
    ("declared", "value", "path"),
    [
        pytest.param("string", "7", "spec.values.a", id="a number is no string"),
        pytest.param("int", "'7'", "spec.values.a", id="a string is no int"),
        pytest.param("int", "1.5", "spec.values.a", id="fraction"),
        pytest.param("number", "true", "spec.values.a", id="a boolean is no number"),
        pytest.param("bool", "1", "spec.values.a", id="a number is no boolean"),
        pytest.param("list", "{}", "spec.values.a", id="list"),
        pytest.param("map", "[]", "spec.values.a", id="map"),
        pytest.param("{$type: int, $oneOf: [0, 2]}", "1", "spec.values.a", id="choice"),
        pytest.param("{b: string}", "x", "spec.values.a", id="group"),
        pytest.param("{b: string}", "{b: x, 'c.d': y}", 'spec.values.a["c.d"]', id="unknown"),
        pytest.param("[string]", "[a, b]", "spec.values.a[1]", id="position"),
        pytest.param("[string, string]", "[a]", "spec.values.a[1]", id="no position"),
        pytest.param("string", SECRET, "spec.values.a", id="text takes no sensitive field"),
    ],
)
def test_a_mistake_of_the_user_is_one_problem(declared: str, value: str, path: str) -> None:
    compiled = Compiled(f"  config:\n    a: {declared}\n", f"x: 1\na: {value}\n".removeprefix("x: 1\n"))
    assert compiled.errors == [f"values.yaml:1 {path}"]


def test_a_misspelt_field_is_not_missing_too() -> None:
    compiled = Compiled("  config: {db: {host: string, port: int}}\n", "db:\n  hots: h\n  port: 1\n")
    assert compiled.errors == ["values.yaml:2 spec.values.db.hots"]
    assert "did you mean host?" in compiled.told


def test_optional_fields_and_defaults_need_no_value() -> None:
    spec = "  config: {a: string?, b: {$type: int, $optional: true}, c: {$type: bool, $default: false}}\n"
    assert not Compiled(spec).problems


def test_an_entry_whose_plain_field_is_absent_is_left_out() -> None:
    spec = "  config: {a: string?}\n  containers: {m: {env: {A: {value: 'x${config.a}'}, B: {value: b}}}}\n"
    assert Compiled(spec).container["env"] == [{"name": "B", "value": "b"}]


@pytest.mark.parametrize("deep", [3, 10, 40])
def test_a_sensitive_field_is_found_at_any_depth(deep: int) -> None:
    declared, value = SECRET, "{value: canary}"
    for _ in range(deep):
        declared, value = f"[{{a: {declared}}}]", f"[{{a: {value}}}]"
    compiled = Compiled(f"  config: {{x: {declared}}}\n", f"x: {value}\n")
    assert compiled.item("Secret")["data"] == {"k": "Y2FuYXJ5"}
