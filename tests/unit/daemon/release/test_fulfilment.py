"""What users write: one variant, nothing else; and no message tells what they wrote."""

import pytest

from tests.unit.daemon.release.support import STORE, Compiled

SPEC = "  config:\n    a: {$opm: secret, $secretName: s, $dataKey: k, description: The key}\n"


@pytest.mark.parametrize(
    ("written", "paths"),
    [
        pytest.param("", [""], id="nothing"),
        pytest.param("{}", [""], id="empty"),
        pytest.param("canary", [""], id="text"),
        pytest.param("[canary]", [""], id="list"),
        pytest.param("true", [""], id="boolean"),
        pytest.param("{value: 4711}", [".value"], id="number"),
        pytest.param("{value: canary, path: p}", [""], id="both"),
        pytest.param("{valeu: canary}", [".valeu"], id="typo"),
        pytest.param("{sorce: k8s, path: p, remoteKey: k}", [".sorce"], id="typo in a reference"),
        pytest.param("{pth: p, remoteKey: k}", [".pth"], id="a typo and no gap"),
        pytest.param("{source: k8s-eso}", [".path", ".remoteKey"], id="source alone"),
        pytest.param("{path: p}", [".remoteKey"], id="no key"),
        pytest.param("{remoteKey: k}", [".path"], id="no path"),
        pytest.param("{ref: r}", [".key"], id="a later spelling without a key"),
        pytest.param("{key: k}", [".ref"], id="a later spelling without a name"),
        pytest.param("{externalPath: p}", [".remoteKey"], id="external without a key"),
        pytest.param("{path: p, secretName: s, remoteKey: k}", [""], id="two spellings"),
        pytest.param("{path: p, key: k}", [""], id="two spellings of a key"),
        pytest.param("{source: k8s, ref: r, key: k}", [""], id="source beside a later spelling"),
        pytest.param("{source: k8s-eso, path: '', remoteKey: k}", [".path"], id="empty path"),
        pytest.param("{source: k8s-eso, path: p, remoteKey: 7}", [".remoteKey"], id="key of another type"),
        pytest.param("{source: 7, path: p, remoteKey: k}", [".source"], id="source of another type"),
        pytest.param("{path: A/b, remoteKey: k}", [".path"], id="no name"),
        pytest.param("{$secretName: other, value: canary}", [".$secretName"], id="rerouted"),
        pytest.param("{$optional: true}", [".$optional"], id="made optional"),
        pytest.param("'@vault(x)'", [""], id="unknown tag"),
    ],
)
def test_a_mistake_is_told_at_its_place_and_without_the_value(written: str, paths: list[str]) -> None:
    compiled = Compiled(SPEC, f"a: {written}\n")
    assert compiled.errors == [f"values.yaml:1 spec.values.a{path}" for path in paths]
    assert "canary" not in compiled.told
    assert "4711" not in compiled.told
    assert not compiled.result.items


@pytest.mark.parametrize(
    ("written", "ref"),
    [
        pytest.param("{path: p, remoteKey: r}", ("p", "r"), id="source left out"),
        pytest.param("{source: k8s, path: p, remoteKey: r}", ("p", "r"), id="k8s"),
        pytest.param("{secretName: p, remoteKey: r}", ("p", "r"), id="secretName"),
        pytest.param("{ref: p, key: r}", ("p", "r"), id="ref"),
        pytest.param("{externalPath: a/b, remoteKey: c.d}", ("s", "k"), id="externalPath"),
        pytest.param("{value: ''}", ("s", "k"), id="an empty literal"),
        pytest.param("{$opm: secret, $secretName: s, $dataKey: k, value: x}", ("s", "k"), id="routing again"),
        pytest.param("{value: '@env(X)'}", ("s", "k"), id="a literal that looks like a tag"),
    ],
)
def test_each_spelling_is_one_of_the_variants(written: str, ref: tuple[str, str]) -> None:
    spec = SPEC + "  containers: {m: {env: {A: {from: config.a}}}}\n"
    compiled = Compiled(spec, f"a: {written}\n", STORE)
    name, key = ref
    assert compiled.container["env"] == [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": name, "key": key}}}
    ]


def test_an_unfulfilled_field_tells_its_description_and_the_line_of_its_parent() -> None:
    spec = "  config: {db: {a: {$opm: secret, $secretName: s, $dataKey: k, description: The key}}}\n"
    compiled = Compiled(spec, "# a comment\ndb: {}\n")
    assert compiled.errors == ["values.yaml:2 spec.values.db.a"]
    assert "(The key)" in compiled.told
    assert "{value: ...}" in compiled.told


def test_what_is_optional_and_absent_is_left_out_everywhere() -> None:
    spec = (
        "  config: {a: {$opm: secret, $secretName: s, $dataKey: k, $optional: true}}\n"
        "  containers:\n"
        "    m: {env: {A: {from: config.a}}, volumeMounts: {v: {mountPath: /v, from: config.a}}}\n"
    )
    compiled = Compiled(spec)
    assert [item["kind"] for item in compiled.result.items] == ["Deployment"]
    assert compiled.pod == {"containers": [{"name": "m", "env": [], "volumeMounts": []}]}


def test_a_leaf_inside_an_open_field_is_sensitive_whoever_wrote_it() -> None:
    spec = "  config: {x: map}\n  containers: {m: {env: {A: {from: 'config.x.list[0]'}}}}\n"
    leaf = "{$opm: secret, $secretName: s, $dataKey: k, value: canary}"
    compiled = Compiled(spec, f"x: {{list: [{leaf}]}}\n")
    assert compiled.item("Secret")["data"] == {"k": "Y2FuYXJ5"}
    assert compiled.container["env"][0]["valueFrom"]["secretKeyRef"] == {"name": "s", "key": "k"}


@pytest.mark.parametrize(
    ("leaf", "path"),
    [
        ("{$secretName: s, $dataKey: k, value: canary}", ".$opm"),
        ("{$opm: secret, $dataKey: k, value: canary}", ".$secretName"),
        ("{$opm: secret, $secretName: s, $dataKey: k}", ""),
        ("{$opm: secret, $secretName: s, $dataKey: k, valeu: canary}", ".valeu"),
    ],
)
def test_a_mistake_inside_an_open_field_fails_closed(leaf: str, path: str) -> None:
    compiled = Compiled("  config: {x: any}\n", f"x: [{leaf}]\n")
    assert compiled.errors == [f"values.yaml:1 spec.values.x[0]{path}"]
    assert "canary" not in compiled.told
