"""The examples of the RFC that the model comes from, in YAML: what it says of each is what happens."""

import pytest

from tests.unit.daemon.release.support import STORE, Compiled

UNIFIED = """\
  config:
    log_level: string
    app_port: int
    db_password: {$opm: secret, $secretName: db-creds, $dataKey: password}
    api_key: {$opm: secret, $secretName: api-key, $dataKey: token}
    tls: {$opm: secret, $secretName: tls-cert, $dataKey: tls.crt}
  container:
    image: x
    env:
      LOG_LEVEL: {value: '${config.log_level}'}
      APP_PORT: {value: '${config.app_port}'}
      DB_PASSWORD: {from: '#config.db_password'}
      API_KEY: {from: config.api_key}
    volumeMounts: {tls: {mountPath: /etc/tls, from: config.tls}}
"""
VALUES = """\
log_level: info
app_port: 8080
db_password: {value: dev-password-123}
api_key: {source: k8s, path: existing, remoteKey: key}
tls: {source: k8s-eso, path: pki/app, remoteKey: cert}
"""


def test_the_unified_pattern() -> None:
    compiled = Compiled(UNIFIED, VALUES, STORE)
    assert [(item["kind"], item["metadata"]["name"]) for item in compiled.result.items] == [
        ("Secret", "db-creds"),
        ("ExternalSecret", "tls-cert"),
        ("Deployment", "app"),
    ]
    assert compiled.container == {
        "name": "app",
        "image": "x",
        "env": [
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "APP_PORT", "value": "8080"},
            {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db-creds", "key": "password"}}},
            {"name": "API_KEY", "valueFrom": {"secretKeyRef": {"name": "existing", "key": "key"}}},
        ],
        "volumeMounts": [{"name": "tls", "mountPath": "/etc/tls", "readOnly": True}],
    }
    assert compiled.pod["volumes"] == [{"name": "tls", "secret": {"secretName": "tls-cert"}}]


def test_the_same_module_with_each_path_of_a_value_has_the_same_wiring() -> None:
    spec = (
        "  config: {db: {password: {$opm: secret, $secretName: db-creds, $dataKey: password}}}\n"
        "  containers: {m: {env: {DB_PASSWORD: {from: config.db.password}}}}\n"
    )
    written = (
        "{value: dev-password-123}",
        "{source: k8s-eso, path: secret/data/prod/db, remoteKey: password}",
        "'@secret(source=eso, path=\"secret/data/prod/db\", key=password)'",
    )
    answers = {"config.db.password": b"fetched"}
    containers = [
        Compiled(spec, f"db: {{password: {each}}}\n", STORE, answers=answers).container for each in written
    ]
    assert containers[0] == containers[1] == containers[2]


PEM = "$constraints: {pattern: ['^-----BEGIN [A-Z ]+-----\\n', '\\n-----END [A-Z ]+-----\\n?$']}"
STRONG = "$constraints: {pattern: ['^.{16,}$', '[A-Z]', '[a-z]', '[0-9]']}"
STRIPE = "$constraints: {pattern: '^sk_(test|live)_'}"


@pytest.mark.parametrize(
    ("constraint", "value", "holds"),
    [
        (PEM, '"-----BEGIN KEY-----\\nYQ==\\n-----END KEY-----\\n"', True),
        (PEM, "no PEM", False),
        (STRONG, "Sixteen4Characters", True),
        (STRONG, "sixteen4characters", False),
        (STRIPE, "sk_test_canary", True),
        (STRIPE, "pk_test_canary", False),
        ("$constraints: {minRunes: 12}", "dev-password-123", True),
        ("$constraints: {minRunes: 12}", "short", False),
    ],
)
def test_the_constraints(constraint: str, value: str, holds: bool) -> None:  # noqa: FBT001  # a row of the table
    spec = f"  config: {{a: {{$opm: secret, $secretName: s, $dataKey: k, {constraint}}}}}\n"
    compiled = Compiled(spec, f"a: {{value: {value}}}\n")
    assert compiled.errors == ([] if holds else ["values.yaml:1 spec.values.a.value"])


def test_a_constraint_of_a_reference_is_inert_here_and_told_to_who_fetches() -> None:
    spec = f"  config: {{a: {{$opm: secret, $secretName: s, $dataKey: k, {STRIPE}}}}}\n"
    for written, verdict in (
        ("{source: k8s-eso, path: p, remoteKey: r}", "deferred"),
        ("{source: k8s, path: p, remoteKey: r}", "unchecked"),
    ):
        compiled = Compiled(spec, f"a: {written}\n", STORE)
        assert not compiled.problems
        assert compiled.result.checked.verdicts == {"config.a": verdict}


def test_a_module_that_was_migrated_takes_wrapped_values_alone() -> None:
    spec = "  config: {db: {password: {$opm: secret, $secretName: s, $dataKey: k}}}\n"
    assert not Compiled(spec, "db: {password: {value: my-secret-password}}\n").problems
    before = Compiled(spec, "db: {password: my-secret-password}\n")
    assert before.errors == ["values.yaml:1 spec.values.db.password"]
    assert "{value: ...}" in before.told
    assert "my-secret-password" not in before.told
