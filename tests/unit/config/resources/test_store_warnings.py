"""Warnings about stores that let more in, or read elsewhere, than their author seems to think."""

import pytest

from syncret.config.catalog import OTHER_NAMESPACE
from syncret.config.errors import Severity
from syncret.config.fields import Json
from syncret.config.schema.admission import admit
from syncret.providers.registry import Registry
from tests.unit.config.support import store

CATALOG = Registry()
FAKE: Json = {"fake": {"data": []}}


def warnings(spec: Json, kind: str = "SecretStore", **fields: Json) -> list[tuple[str, str, str]]:
    result = admit(store(spec, kind=kind, **fields), CATALOG)
    assert result.accepted
    return [
        (problem.path, problem.message, problem.hint)
        for problem in result.problems
        if problem.severity is Severity.WARNING and "maintained" not in problem.message
    ]


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        pytest.param("team-a", "^team-a$", id="no anchor"),
        pytest.param("^team-", "^team-$", id="no end"),
        pytest.param("team-.*$", "^team-.*$", id="no beginning"),
        pytest.param("^a|b$", "^(?:a|b)$", id="each alternative has one"),
        pytest.param("^a$|b", "^(?:a|b)$", id="one alternative has none"),
        pytest.param(r"^a\$", r"^a\$$", id="an escaped dollar is none"),
        pytest.param("(^a$)(b)", "^(^a$)(b)$", id="anchors within a group"),
        pytest.param("[$]", "^[$]$", id="a dollar in a class"),
        pytest.param("", "^$", id="matches everything"),
    ],
)
def test_a_pattern_that_matches_within_a_name_is_warned_about(pattern: str, instead: str) -> None:
    [(path, message, hint)] = warnings(
        FAKE, "ClusterSecretStore", conditions=[{}, {"namespaceRegexes": ["^a$", pattern]}]
    )
    assert path == "spec.conditions[1].namespaceRegexes[1]"
    assert "is not anchored" in message
    assert hint == f"write {instead}, with .* where anything may stand"


@pytest.mark.parametrize(
    "pattern",
    [
        *("^team-a$", "^team-.*$", "^team-.*", ".*-prod$", ".*", ".+", r"\Ateam\z", "^$"),
        *("^a$|^b$", "^(a|b)$", "(?:^a$|^b$)", "(?i)^a$", "(^a$)|(^b$)", r"^a\\$", "^[|]$", r"^\Qa|b\E$"),
    ],
)
def test_a_pattern_that_matches_whole_names_is_not(pattern: str) -> None:
    assert warnings(FAKE, "ClusterSecretStore", conditions=[{"namespaceRegexes": [pattern]}]) == []


WEBHOOK = {
    "url": "https://example.com",
    "result": {"jsonPath": "$"},
    "headers": {"name": "x", "namespace": "y"},
    "secrets": [
        {"name": "own", "secretRef": {"name": "s", "key": "k", "namespace": "team-b"}},
        {"name": "other", "secretRef": {"name": "s", "key": "k", "namespace": "team-a"}},
    ],
    "caProvider": {"type": "Secret", "name": "ca", "key": "k", "namespace": "team-a"},
}
VAULT = {
    "server": "https://vault",
    "namespace": "admin",
    "caProvider": {"type": "ConfigMap", "name": "ca", "key": "k", "namespace": "team-a"},
    "auth": {"tokenSecretRef": {"name": "t", "namespace": "team-b"}},
}


@pytest.mark.parametrize(
    ("provider", "spec", "paths"),
    [
        pytest.param("webhook", WEBHOOK, ["caProvider", "secrets[1].secretRef"], id="webhook"),
        pytest.param("vault", VAULT, ["caProvider"], id="vault"),
    ],
)
def test_a_namespace_that_is_not_read_is_warned_about(provider: str, spec: Json, paths: list[str]) -> None:
    given = store({provider: spec})
    given["metadata"]["namespace"] = "team-b"
    result = admit(given, CATALOG)
    assert result.accepted
    assert sorted((each.path, each.message) for each in result.problems) == [
        (f"spec.provider.{provider}.{path}.namespace", OTHER_NAMESPACE) for path in paths
    ]


def test_a_reference_that_is_refused_is_not_warned_about_as_well() -> None:
    given = store(
        {"vault": {**VAULT, "caProvider": None, "auth": {"tokenSecretRef": {"name": "t", "namespace": "x"}}}}
    )
    [problem] = admit(given, CATALOG).problems
    assert (problem.fatal, problem.path) == (True, "spec.provider.vault.auth.tokenSecretRef.namespace")


def test_a_cluster_store_may_read_anywhere() -> None:
    assert warnings({"webhook": WEBHOOK}, "ClusterSecretStore") == []
