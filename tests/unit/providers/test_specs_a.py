"""What the stores akeyless to kubernetes demand beyond their schema: every demand, met and not met."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from syncret.config.catalog import Scope
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.providers.registry import Registry

OWN = Scope(cluster=False, namespace="team")
CLUSTER = Scope(cluster=True)
REGISTRY = Registry()
TABLE: Document = yaml.safe_load(Path(__file__).with_name("specs_a.yaml").read_text(encoding="utf-8"))
PROVIDERS = sorted(name for name in TABLE if not name.startswith("."))


def merged(document: Json, patch: Json) -> Json:
    """A JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    result: Document = {**document} if isinstance(document, dict) else {}
    changes: Document = {**patch}
    for key, change in changes.items():
        result[key] = merged(result.get(key), change)
    return {key: value for key, value in result.items() if value is not None}


def judge(provider: str, patch: Document, scope: Scope) -> list[Problem]:
    spec = REGISTRY.store(provider)
    model = msgspec.convert(merged(TABLE[provider]["good"], patch), spec.model)
    return list(spec.check(model, scope)) if spec.check else []


def rows() -> Iterator[Any]:
    for provider in PROVIDERS:
        for case in TABLE[provider].get("cases", ()):
            scope = CLUSTER if case.get("cluster") else OWN
            yield pytest.param(
                provider,
                case.get("patch", {}),
                scope,
                case.get("problems", {}),
                id=f"{provider}-{case['name']}",
            )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_complete_spec_has_no_problem(provider: str) -> None:
    assert judge(provider, {}, OWN) == []


@pytest.mark.parametrize(("provider", "patch", "scope", "expected"), list(rows()))
def test_demands(provider: str, patch: Document, scope: Scope, expected: dict[str, str]) -> None:
    problems = judge(provider, patch, scope)
    assert {problem.path for problem in problems} == expected.keys()
    assert len(problems) == len(expected)
    assert [str(problem) for problem in problems if expected[problem.path] not in problem.message] == []
    assert [str(problem) for problem in problems if not (problem.hint and problem.fatal)] == []


@pytest.mark.parametrize(
    ("provider", "patch", "text"),
    [
        pytest.param(
            "beyondtrust",
            {"auth": {"certificate": {"value": "inline"}}},
            "certificate and certificateKey must both be set",
            id="beyondtrust-half-a-certificate",
        ),
        pytest.param(
            "bitwardensecretsmanager",
            {"caBundle": None},
            "Neither CA nor CA bundle is configured",
            id="bitwarden-without-ca",
        ),
        pytest.param("crd", {"server": None}, "No caBundle or caProvider specified", id="crd-without-ca"),
        pytest.param(
            "kubernetes",
            {"server": {"caProvider": None}},
            "No caBundle or caProvider specified",
            id="kubernetes-without-ca",
        ),
    ],
)
def test_warnings_do_not_refuse(provider: str, patch: Document, text: str) -> None:
    [problem] = judge(provider, patch, OWN)
    assert (problem.severity, text in problem.message, bool(problem.hint)) == (Severity.WARNING, True, True)


@pytest.mark.parametrize(
    ("document", "holds"),
    [
        pytest.param({}, True, id="none"),
        pytest.param({"customSessionTags": {"team": "a"}}, True, id="own"),
        pytest.param({"customSessionTags": {"esoNamespace": "a"}}, False, id="namespace"),
        pytest.param({"customSessionTags": {"esoStoreName": "a"}}, False, id="name"),
        pytest.param({"customSessionTags": {"esoStoreKind": "a"}}, False, id="kind"),
    ],
)
def test_reserved_session_tags_are_refused(document: Document, *, holds: bool) -> None:
    [rule] = REGISTRY.store("aws").model.RULES
    assert rule.holds(document) is holds


@pytest.mark.parametrize(
    ("document", "broken"),
    [
        pytest.param({"auth": {}}, [], id="auth"),
        pytest.param({"authRef": {}}, [], id="authRef"),
        pytest.param({}, ["one of auth or authRef is required"], id="neither"),
        pytest.param(
            {"auth": {}, "authRef": {}},
            ["at most one of the fields in [auth authRef] may be set"],
            id="both",
        ),
    ],
)
def test_a_crd_store_logs_in_one_way(document: Document, broken: list[str]) -> None:
    rules = REGISTRY.store("crd").model.RULES
    assert [rule.message for rule in rules if not rule.holds(document)] == broken


@pytest.mark.parametrize(
    ("document", "holds"),
    [
        pytest.param({"secretRef": {}}, True, id="token"),
        pytest.param({"oidcConfig": {}}, True, id="oidc"),
        pytest.param({}, False, id="neither"),
        pytest.param({"secretRef": {}, "oidcConfig": {}}, False, id="both"),
    ],
)
def test_a_doppler_store_logs_in_one_way(document: Document, *, holds: bool) -> None:
    auth = REGISTRY.store("doppler").model.__annotations__["auth"]
    assert [rule.holds(document) for rule in auth.RULES] == [holds]
