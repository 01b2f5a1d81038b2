"""Slots, groups, types, immutable Secrets, sizes; and the store that references need."""

import json

import pytest

from tests.unit.daemon.release.support import STORE, Compiled

A = "a: {$opm: secret, $secretName: s, $dataKey: x}"
B = "b: {$opm: secret, $secretName: s, $dataKey: z}"
TWIN = "b: {$opm: secret, $secretName: s, $dataKey: x}"
ESO = "{source: k8s-eso, path: p, remoteKey: r}"


def config(*leaves: str, more: str = "") -> str:
    return f"  config: {{{', '.join(leaves)}}}\n{more}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{value: canary}", "{value: canary2}"),
        ("{value: canary}", "{path: p, remoteKey: r}"),
        ("{path: p, remoteKey: r}", ESO),
    ],
)
def test_one_slot_has_one_value_whatever_the_variant(one: str, other: str) -> None:
    compiled = Compiled(config(A, TWIN), f"a: {one}\nb: {other}\n", STORE)
    assert compiled.errors == ["values.yaml:1 spec.values.a", "values.yaml:2 spec.values.b"]
    assert "canary" not in compiled.told


def test_equal_twins_are_one_entry_and_what_must_hold_of_one_must_hold_of_both() -> None:
    strict = TWIN.replace("$dataKey: x", "$dataKey: x, $constraints: {minRunes: 8}")
    compiled = Compiled(config(A, strict), f"a: {ESO}\nb: {ESO}\n", STORE)
    manifest = compiled.item("ExternalSecret")
    assert [entry["secretKey"] for entry in manifest["spec"]["data"]] == ["x"]
    carried = json.loads(manifest["metadata"]["annotations"]["syncret.dev/constraints"])
    assert carried == {"keys": {"x": [{"minRunes": 8}]}, "policy": "block"}


def test_two_writers_of_one_secret_are_told() -> None:
    compiled = Compiled(config(A, B), f"a: {{value: canary}}\nb: {ESO}\n", STORE)
    assert compiled.warnings == ["module.yaml:5 spec.config.a"]
    assert compiled.item("ExternalSecret")["spec"]["target"] == {"name": "s", "creationPolicy": "Merge"}
    assert list(compiled.item("Secret")["data"]) == ["x"]


def test_a_reference_to_a_manager_needs_the_platforms_store_and_says_so_once() -> None:
    compiled = Compiled(config(A, B), f"a: {ESO}\nb: {ESO}\n", "  production: false\n")
    assert compiled.errors == ["platform.yaml:4 spec.secretStoreRef"]


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("s: {type: kubernetes.io/tls}", "spec.secrets.s.type"),
        ("s: {type: kubernetes.io/basic-auth}", "spec.secrets.s.type"),
        ("s: {type: kubernetes.io/ssh-auth}", "spec.secrets.s.type"),
        ("s: {type: kubernetes.io/dockercfg}", "spec.secrets.s.type"),
        ("s: {type: kubernetes.io/dockerconfigjson}", "spec.secrets.s.type"),
        ("s: {type: ''}", "spec.secrets.s.type"),
        ("s: {typ: Opaque}", "spec.secrets.s.typ"),
        ("s: {immutable: 1}", "spec.secrets.s.immutable"),
        ("t: {type: Opaque}", "spec.secrets.t"),
        ("s: 7", "spec.secrets.s"),
    ],
)
def test_what_a_module_says_of_a_secret_must_hold(said: str, path: str) -> None:
    compiled = Compiled(config(A, more=f"  secrets: {{{said}}}\n"), "a: {value: canary}\n")
    assert compiled.errors == [f"module.yaml:6 {path}"]


def test_the_type_of_an_external_secret_is_in_its_template() -> None:
    leaf = "a: {$opm: secret, $secretName: s, $dataKey: password}"
    compiled = Compiled(
        config(leaf, more="  secrets: {s: {type: kubernetes.io/basic-auth}}\n"), f"a: {ESO}\n", STORE
    )
    assert compiled.item("ExternalSecret")["spec"]["target"] == {
        "name": "s",
        "template": {"type": "kubernetes.io/basic-auth"},
    }


def test_the_name_of_an_immutable_secret_changes_with_its_content() -> None:
    spec = config(A, more="  secrets: {s: {immutable: true}}\n")
    names = {
        Compiled(spec, f"a: {{value: {value}}}\n").item("Secret")["metadata"]["name"]
        for value in ("one", "two", "one")
    }
    assert len(names) == 2
    assert all(len(name) == len("s-") + 10 for name in names)


@pytest.mark.parametrize("other", [ESO, "{path: p, remoteKey: r}"])
def test_a_secret_with_references_is_not_immutable(other: str) -> None:
    spec = config(A, B, more="  secrets: {s: {immutable: true}}\n")
    compiled = Compiled(spec, f"a: {{value: x}}\nb: {other}\n", STORE)
    assert compiled.errors == ["module.yaml:6 spec.secrets.s.immutable"]


def test_a_secret_holds_at_most_a_mebibyte() -> None:
    half = "x" * 524288
    values = f"a: {{value: {half}}}\nb: {{value: {half}}}\n"
    assert not Compiled(config(A, B), values).problems
    compiled = Compiled(config(A, B), values.replace("x}", "xx}", 1))
    assert compiled.errors == ["values.yaml:1 spec.values.a"]


def test_a_secret_whose_field_has_a_mistake_is_not_unknown_too() -> None:
    leaf = "a: {$opm: secret, $secretName: s, $dataKey: tls.crt, $constraints: {pattern: '('}}"
    other = "b: {$opm: secret, $secretName: s, $dataKey: tls.key}"
    spec = config(leaf, other, more="  secrets: {s: {type: kubernetes.io/tls}}\n")
    assert Compiled(spec, "b: {value: x}\n").errors == ["module.yaml:5 spec.config.a.$constraints"]
