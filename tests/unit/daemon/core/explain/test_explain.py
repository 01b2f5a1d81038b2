"""Explanations: origins and steps of keys, and why the next attempt is when it is."""

from typing import Any

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.core.explain.explain import ExplainInput, explain
from syncret.daemon.core.explain.key_origins import KeyOrigin

NOW = 1_767_225_600.0
STATUS = {
    "refreshTime": "2025-12-31T23:30:00Z",
    "conditions": [{"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "secret synced"}],
}


def external_secret(spec: dict[str, Any] | None = None, **document: Json) -> dict[str, Any]:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "database", "namespace": "default"},
        "spec": {"secretStoreRef": {"name": "vault"}, "refreshInterval": "1h", **(spec or {})},
        "status": STATUS,
        **document,
    }


def keys_of(spec: dict[str, Any], origins: dict[str, str] | None = None) -> tuple[KeyOrigin, ...]:
    return explain(external_secret(spec), ExplainInput(NOW, origins=origins or {})).keys


KEYS: list[Any] = [
    pytest.param(
        {
            "data": [
                {
                    "secretKey": "password",
                    "remoteRef": {
                        "key": "db",
                        "property": "pw",
                        "version": "3",
                        "decodingStrategy": "Base64",
                        "metadataPolicy": "Fetch",
                        "nullBytePolicy": "Fail",
                    },
                }
            ]
        },
        {},
        [
            KeyOrigin(
                key="password",
                field="spec.data[0]",
                source="SecretStore/vault",
                remote_key="db",
                property="pw",
                version="3",
                steps=(
                    "the metadata of the entry instead of its value",
                    "value decoded (Base64)",
                    "refused if it holds a null byte",
                ),
            )
        ],
        id="data",
    ),
    pytest.param(
        {"dataFrom": [{"extract": {"key": "db"}}]},
        {"user": "spec.dataFrom[0]", "pw": "spec.dataFrom[0]"},
        [
            KeyOrigin(
                key=key,
                field="spec.dataFrom[0]",
                source="SecretStore/vault",
                remote_key="db",
                steps=(
                    "one key for each member of the value",
                    "characters that a key cannot hold replaced (Default)",
                ),
            )
            for key in ("pw", "user")
        ],
        id="extract",
    ),
    pytest.param(
        {
            "dataFrom": [
                {
                    "sourceRef": {"storeRef": {"kind": "ClusterSecretStore", "name": "all"}},
                    "find": {"path": "apps", "name": {"regexp": "^db-"}, "tags": {"team": "a"}},
                    "rewrite": [
                        {"regexp": {"source": "db-(.*)", "target": "$1"}},
                        {"merge": {"into": "all", "strategy": "JSON", "priority": ["x"]}},
                        {"transform": {"template": "{{ .value | hidden }}"}},
                    ],
                }
            ]
        },
        {},
        [
            KeyOrigin(
                field="spec.dataFrom[0]",
                source="ClusterSecretStore/all",
                steps=(
                    "every entry under apps and whose name matches ^db- and tagged team=a",
                    "keys renamed: db-(.*) -> $1",
                    "values merged into all, x last",
                    "keys renamed by a template",
                ),
            )
        ],
        id="find-before-it-was-seen",
    ),
    pytest.param(
        {
            "dataFrom": [
                {"sourceRef": {"generatorRef": {"kind": "Password", "name": "pw", "apiVersion": "v1"}}}
            ]
        },
        {"password": "spec.dataFrom[0]"},
        [
            KeyOrigin(
                key="password",
                field="spec.dataFrom[0]",
                source="Password/pw",
                steps=("generated anew at each refresh",),
            )
        ],
        id="generator",
    ),
    pytest.param(
        {
            "dataFrom": [{"extract": {"key": "db"}}],
            "data": [
                {"secretKey": "a", "remoteRef": {"key": "one"}},
                {"secretKey": "a", "remoteRef": {"key": "two"}},
            ],
        },
        {"a": "spec.data[1]"},
        [KeyOrigin(key="a", field="spec.data[1]", source="SecretStore/vault", remote_key="two")],
        id="the-last-entry-wins",
    ),
]


@pytest.mark.parametrize(("spec", "origins", "expected"), KEYS)
def test_keys(spec: dict[str, Any], origins: dict[str, str], expected: list[KeyOrigin]) -> None:
    assert list(keys_of(spec, origins)) == expected


NEXT: list[Any] = [
    pytest.param({}, ExplainInput(NOW, due=NOW + 1800), 1800, "refreshInterval 1h0m0s", id="interval"),
    pytest.param(
        {},
        ExplainInput(NOW, due=NOW + 60),
        60,
        "refreshInterval 1h0m0s, moved ahead to the slot of its store and key",
        id="slot",
    ),
    pytest.param(
        {"syncWindows": {"kind": "allow", "windows": [{"schedule": "0 3 * * *", "duration": "1h"}]}},
        ExplainInput(NOW, due=NOW + 10800),
        10800,
        "refreshInterval 1h0m0s, then the next time that syncWindows allow",
        id="window",
    ),
    pytest.param(
        {},
        ExplainInput(NOW, due=NOW + 4, failures=3, error=(NOW, "refused", "")),
        4,
        "retry after 3 failures in a row",
        id="retry",
    ),
    pytest.param(
        {},
        ExplainInput(NOW, due=NOW + 1, failures=1, error=(NOW, "", "")),
        1,
        "retry after failure",
        id="first",
    ),
    pytest.param({}, ExplainInput(NOW, due=NOW - 5), 0, "it is due, and waits for a worker", id="overdue"),
    pytest.param(
        {}, ExplainInput(NOW, due=NOW, running=True), None, "it is being worked on right now", id="running"
    ),
    pytest.param(
        {}, ExplainInput(NOW, handled=False), None, "another controller class looks after it", id="not-ours"
    ),
    pytest.param(
        {},
        ExplainInput(NOW, error=(NOW, "taken", "")),
        None,
        "on a change only: another attempt would not help",
        id="hopeless",
    ),
    pytest.param(
        {"refreshPolicy": "CreatedOnce"},
        ExplainInput(NOW),
        None,
        "never again: refreshPolicy is CreatedOnce",
        id="created-once",
    ),
    pytest.param(
        {"refreshPolicy": "OnChange"},
        ExplainInput(NOW),
        None,
        "when its spec, labels or annotations change: refreshPolicy is OnChange",
        id="on-change",
    ),
    pytest.param(
        {"refreshInterval": "0s"},
        ExplainInput(NOW),
        None,
        "never by time: refreshInterval is 0",
        id="interval-zero",
    ),
]


@pytest.mark.parametrize(("spec", "around", "seconds", "why"), NEXT)
def test_next_attempt(spec: dict[str, Any], around: ExplainInput, seconds: float | None, why: str) -> None:
    attempt = explain(external_secret(spec), around).next
    assert (attempt.in_seconds, attempt.why) == (seconds, why)
    assert (attempt.at is None) is (seconds is None)


def test_the_verdict_the_age_and_the_last_error() -> None:
    around = ExplainInput(NOW, due=NOW + 9, failures=1, error=(NOW - 60, "the token was refused", "renew it"))
    told = explain(external_secret({"target": {"name": "db"}}), around)
    assert (told.ready, told.reason, told.message) == ("True", "SecretSynced", "secret synced")
    assert (told.age_seconds, told.good_since) == (1800.0, "2025-12-31T23:30:00Z")
    assert told.target == "Secret/db (Owner)"
    assert told.last_error is not None
    assert (told.last_error.at, told.last_error.hint) == ("2025-12-31T23:59:00Z", "renew it")


def test_before_the_first_attempt() -> None:
    told = explain(external_secret(status={}), ExplainInput(NOW))
    assert (told.ready, told.message, told.age_seconds) == ("Unknown", "nothing has been tried yet", None)
    assert told.next.why == "when its store is ready"


def test_while_it_is_deleted() -> None:
    metadata = {"name": "database", "namespace": "default", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert explain(external_secret(metadata=metadata), ExplainInput(NOW)).next.why == "it is being deleted"


def test_push_secret() -> None:
    document = {
        "apiVersion": "external-secrets.io/v1alpha1",
        "kind": "PushSecret",
        "metadata": {"name": "out", "namespace": "default"},
        "spec": {
            "secretStoreRefs": [{"name": "vault"}],
            "selector": {"secret": {"name": "local"}},
            "data": [
                {"match": {"secretKey": "a", "remoteRef": {"remoteKey": "apps/a", "property": "p"}}},
                {"match": {"remoteRef": {"remoteKey": "apps/all"}}, "conversionStrategy": "ReverseUnicode"},
            ],
            "dataTo": [
                {
                    "storeRef": {"name": "vault"},
                    "match": {"regexp": "^x"},
                    "rewrite": [{"regexp": {"source": "^x", "target": "y"}}],
                }
            ],
        },
        "status": {
            "syncedPushSecrets": {
                "SecretStore/vault": {"apps/a/p": {"match": {"remoteRef": {"remoteKey": "a"}}}}
            }
        },
    }
    told = explain(document, ExplainInput(NOW, due=NOW + 3600))
    assert told.target == "from Secret/local"
    assert [(key.key, key.source, key.remote_key, key.property) for key in told.keys] == [
        ("a", "SecretStore/vault", "apps/a", "p"),
        ("(all keys, as one JSON object)", "SecretStore/vault", "apps/all", ""),
        ("", "SecretStore/vault", "", ""),
    ]
    assert told.keys[2].steps == ("keys that match ^x", "keys renamed: ^x -> y", "each under its own name")
    assert told.notes == ("pushed to SecretStore/vault: apps/a/p",)
    document["status"] = {"syncedPushSecrets": {"SecretStore/vault": {}}}
    told = explain(document, ExplainInput(NOW, error=(NOW, "its template does not parse", "")))
    assert (told.notes, told.message) == ((), "its last run failed, without a condition")


def test_the_verdict_of_constraints_is_a_note() -> None:
    judged = {
        "type": "ConstraintsSatisfied",
        "status": "False",
        "reason": "Violated",
        "message": "violated: a: minRunes",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    told = explain(external_secret(status={"conditions": [judged]}), ExplainInput(NOW))
    assert told.notes == ("constraints since 2026-01-01T00:00:00Z: violated: a: minRunes",)


def test_stores_tell_their_provider_and_never_their_spec() -> None:
    document = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ClusterSecretStore",
        "metadata": {"name": "demo"},
        "spec": {"provider": {"fake": {"data": [{"key": "k", "value": "hunter2"}]}}, "refreshInterval": 60},
        "status": {"capabilities": "ReadWrite"},
    }
    told = explain(document, ExplainInput(NOW, due=NOW + 60))
    assert (told.target, told.notes) == ("provider fake", ("capabilities: ReadWrite",))
    assert told.next.why == "probed every 1m0s"
    assert "hunter2" not in repr(told)


def test_cluster_kinds_tell_where_they_stand() -> None:
    document: Document = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ClusterExternalSecret",
        "metadata": {"name": "all"},
        "spec": {"externalSecretSpec": {}},
        "status": {
            "provisionedNamespaces": ["a"],
            "failedNamespaces": [{"namespace": "b", "reason": "taken"}],
        },
    }
    told = explain(document, ExplainInput(NOW))
    assert told.notes == ("made in: a", "failed in b: taken")


@pytest.mark.parametrize(
    ("due", "why"),
    [
        pytest.param(None, "when it, or something it refers to, changes", id="waiting for a change"),
        pytest.param(NOW + 60, "planned by its last run", id="planned before it changed"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        pytest.param("PushSecret", {"secretStoreRefs": [], "selector": {}}, id="a push"),
        pytest.param("SecretStore", {"provider": {}}, id="a store"),
    ],
)
def test_a_malformed_interval_is_no_fault_here(
    kind: str, spec: dict[str, object], due: float | None, why: str
) -> None:
    document = {"kind": kind, "metadata": {"name": "a"}, "spec": {**spec, "refreshInterval": "1 day"}}
    assert explain(document, ExplainInput(NOW, due=due)).next.why == why
