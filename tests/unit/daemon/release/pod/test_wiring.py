"""Environment, bulk environment and mounts of containers, with what may be wrong there."""

import pytest

from tests.unit.daemon.release.support import STORE, Compiled

CONFIG = (
    "  config:\n"
    "    host: string\n"
    "    db: {password: {$opm: secret, $secretName: s, $dataKey: k}}\n"
    "    tls: {crt: {$opm: secret, $secretName: t, $dataKey: tls.crt},"
    " key: {$opm: secret, $secretName: t, $dataKey: tls.key}}\n"
)
VALUES = "host: h\ndb: {password: {value: canary}}\ntls: {crt: {value: c}, key: {value: k}}\n"


def wired(container: str, values: str = VALUES, more: str = "", **options: str) -> Compiled:
    return Compiled(f"{CONFIG}{more}  containers:\n    m:\n      {container}\n", values, **options)  # type: ignore[arg-type]  # texts alone


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ("{}", ""),
        ("text", ""),
        ("{value: a, from: config.db.password}", ""),
        ("{vlaue: a}", ".vlaue"),
        ("{value: 1}", ".value"),
        ("{value: true}", ".value"),
        ("{value: }", ".value"),
        ("{name: B, value: b}", ".name"),
        ("{from: }", ".from"),
        ("{from: 7}", ".from"),
        ("{from: db.password}", ".from"),
        ("{from: 'config.db password'}", ".from"),
        ("{from: config.db}", ".from"),
        ("{from: config.host}", ".from"),
        ("{from: config.nothing}", ".from"),
        ("{from: 'config.host[0]'}", ".from"),
        ("{value: '${config.db.password}'}", ".value"),
        ("{value: '${config.db}'}", ".value"),
        ("{value: '${config.hots}'}", ".value"),
        ("{value: '${config}'}", ".value"),
        ("{fieldRef: {}}", ".fieldRef.fieldPath"),
        ("{fieldRef: {fieldpath: a}}", ".fieldRef.fieldpath"),
        ("{resourceFieldRef: x}", ".resourceFieldRef"),
    ],
)
def test_a_mistake_in_a_variable_is_one_problem(entry: str, path: str) -> None:
    compiled = wired(f"env: {{A: {entry}}}")
    assert compiled.errors == [f"module.yaml:11 spec.containers.m.env.A{path}"]
    assert "canary" not in compiled.told


def test_text_keeps_what_is_no_reference() -> None:
    container = wired(
        "env: {A: {value: '$${config.host} ${HOME} $(B) ${configuration} ${config.host}'}}"
    ).container
    assert container["env"] == [{"name": "A", "value": "${config.host} ${HOME} $(B) ${configuration} h"}]


@pytest.mark.parametrize(
    ("entries", "path"),
    [
        ("{}", ""),
        ("[{}]", "[0]"),
        ("[{secretRef: {name: s}, configMapRef: {name: c}}]", "[0]"),
        ("[{secretref: {name: s}}]", "[0].secretref"),
        ("[{secretRef: s}]", "[0].secretRef.name"),
        ("[{secretRef: {nam: s}}]", "[0].secretRef.name"),
    ],
)
def test_a_mistake_in_a_bulk_environment_is_one_problem(entries: str, path: str) -> None:
    assert wired(f"envFrom: {entries}").errors == [f"module.yaml:11 spec.containers.m.envFrom{path}"]


@pytest.mark.parametrize(
    ("mount", "path"),
    [
        ("7", ""),
        ("{from: config.tls}", ".mountPath"),
        ("{mountPath: '', from: config.tls}", ".mountPath"),
        ("{mountPath: 7, from: config.tls}", ".mountPath"),
        ("{mountPat: /a, from: config.tls}", ".mountPat"),
        ("{mountPath: /a, from: config.tls, readOnly: 1}", ".readOnly"),
        ("{mountPath: /a, from: config.tls, defaultMode: '0400'}", ".defaultMode"),
        ("{mountPath: /a, from: config.host}", ".from"),
        ("{mountPath: /a, from: config}", ".from"),
        ("{mountPath: /a}", ""),
    ],
)
def test_a_mistake_in_a_mount_is_one_problem(mount: str, path: str) -> None:
    compiled = wired(f"volumeMounts: {{v: {mount}}}")
    assert compiled.errors == [f"module.yaml:11 spec.containers.m.volumeMounts.v{path}"]


def test_a_volume_has_a_name_once() -> None:
    compiled = wired("volumeMounts: {v: {mountPath: /v, from: config.tls}}", more="  volumes: [{name: v}]\n")
    assert compiled.errors == ["module.yaml:12 spec.containers.m.volumeMounts.v"]


def test_a_volume_of_several_secrets_is_projected_with_what_was_declared() -> None:
    values = VALUES.replace("key: {value: k}", "key: {path: other, remoteKey: priv}")
    assert wired("volumeMounts: {v: {mountPath: /v, from: config.tls, defaultMode: 256}}", values).pod[
        "volumes"
    ] == [
        {
            "name": "v",
            "projected": {
                "sources": [
                    {"secret": {"name": "other", "items": [{"key": "priv", "path": "tls.key"}]}},
                    {"secret": {"name": "t", "items": [{"key": "tls.crt", "path": "tls.crt"}]}},
                ],
                "defaultMode": 256,
            },
        }
    ]


def test_two_containers_share_a_volume() -> None:
    spec = CONFIG + (
        "  containers:\n"
        "    a: {volumeMounts: {v: {mountPath: /a, from: config.tls}}}\n"
        "    b: {volumeMounts: {v: {mountPath: /b, from: config.tls}}}\n"
    )
    pod = Compiled(spec, VALUES).pod
    assert [container["volumeMounts"][0]["mountPath"] for container in pod["containers"]] == ["/a", "/b"]
    assert pod["volumes"] == [{"name": "v", "secret": {"secretName": "t"}}]


def test_what_is_passed_through_holds_no_sensitive_field() -> None:
    leaf = "{$opm: secret, $secretName: s, $dataKey: k, value: canary}"
    for member in (f"args: [{leaf}]", f"lifecycle: {{x: {leaf}}}"):
        compiled = wired(member)
        assert compiled.errors == [f"module.yaml:11 spec.containers.m.{member.partition(':')[0]}"]
        assert "canary" not in compiled.told


def test_a_module_has_a_container() -> None:
    assert Compiled("  config: {}\n  containers: {}\n").errors == ["module.yaml:6 spec.containers"]


def test_a_resolved_release_may_hold_a_leaf_where_it_is_used() -> None:
    leaf = "{$opm: secret, $secretName: s, $dataKey: k, source: k8s-eso, path: p, remoteKey: r}"
    env = f"{{A: {{from: {leaf}}}, X: {{value: '${{config.x}}'}}}}"
    spec = f"  config: {{x: 1}}\n  containers: {{m: {{env: {env}}}}}\n"
    compiled = Compiled(spec, "", STORE, kind="ResolvedRelease")
    assert compiled.container["env"] == [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "X", "value": "1"},
    ]
    assert compiled.item("ExternalSecret")["metadata"]["name"] == "s"
