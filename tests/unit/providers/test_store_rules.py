"""What the provider of a store demands beyond its schema: every demand, met and not met."""

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
TABLE: Document = {
    name: entry
    for table in Path(__file__).parent.glob("store_rules_*.yaml")
    for name, entry in yaml.load(table.read_text(encoding="utf-8"), yaml.CSafeLoader).items()
}
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


def problems_of(provider: str, patch: Document, scope: Scope) -> list[Problem]:
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
    assert problems_of(provider, {}, OWN) == []


@pytest.mark.parametrize(("provider", "patch", "scope", "expected"), list(rows()))
def test_demands(provider: str, patch: Document, scope: Scope, expected: dict[str, str]) -> None:
    problems = problems_of(provider, patch, scope)
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
    [problem] = problems_of(provider, patch, OWN)
    assert (problem.severity, text in problem.message, bool(problem.hint)) == (Severity.WARNING, True, True)


@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        pytest.param("api.example.com", "", id="host"),
        pytest.param("api.example.com:443", "", id="host and port"),
        pytest.param("API.Example.com", "", id="capitals"),
        pytest.param("bücher.example", "", id="internationalised"),
        pytest.param("", "API domain must be set", id="empty"),
        pytest.param("  ", "API domain must be set", id="blank"),
        pytest.param("https://a.example", "API domain is not valid: scheme is not allowed", id="scheme"),
        pytest.param("a.b:1:2", "too many colons", id="two ports"),
        pytest.param("example.com.", "must not end with a dot", id="rooted"),
        pytest.param("localhost", "at least one dot", id="one label"),
        pytest.param("under_score.example.com", "invalid label", id="underscore"),
        pytest.param("-a.example.com", "invalid label", id="outer hyphen"),
        pytest.param("a..example.com", "invalid label", id="empty label"),
        pytest.param(f"{'a' * 64}.example.com", "invalid label", id="long label"),
        pytest.param(f"{'a.' * 130}com", "length out of range", id="long"),
        pytest.param(f"{'ü' * 70}.example", "not an internationalised domain name", id="long when encoded"),
        pytest.param("10.0.0.1", "numeric TLD", id="address"),
    ],
)
def test_the_domain_of_mysterybox_is_a_host_name(domain: str, reason: str) -> None:
    problems = problems_of("nebiusmysterybox", {"apiDomain": domain}, OWN)

    assert [problem.path for problem in problems] == ["apiDomain"] * bool(reason)
    assert all(reason in problem.message for problem in problems)
