"""Which namespaces a store may refer to, and when a selector is complete."""

from collections.abc import Iterator

import pytest

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import CAProvider, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import (
    NO_NAMESPACE,
    OTHER_NAMESPACE,
    Selector,
    ca_namespace,
    complete,
    filled,
    referent,
    strict,
    value_or_ref,
)

OWN = Scope(cluster=False, namespace="team")
CLUSTER = Scope(cluster=True)
OPEN = SecretKeySelector(name="credentials", key="token")
HERE = SecretKeySelector(name="credentials", namespace="team")
THERE = SecretKeySelector(name="credentials", namespace="elsewhere")
ACCOUNT_THERE = ServiceAccountSelector(name="robot", namespace="elsewhere")


def seen(problems: Iterator[Problem]) -> list[tuple[str, str]]:
    return [(problem.path, problem.message) for problem in problems]


@pytest.mark.parametrize(
    ("selector", "scope", "when_strict", "when_referent"),
    [
        pytest.param(None, OWN, "", "", id="absent"),
        pytest.param(None, CLUSTER, "", "", id="absent-in-cluster"),
        pytest.param(OPEN, OWN, "", "", id="open"),
        pytest.param(HERE, OWN, "", "", id="own"),
        pytest.param(THERE, OWN, OTHER_NAMESPACE, OTHER_NAMESPACE, id="foreign"),
        pytest.param(ACCOUNT_THERE, OWN, OTHER_NAMESPACE, OTHER_NAMESPACE, id="foreign-account"),
        pytest.param(OPEN, CLUSTER, NO_NAMESPACE, "", id="open-in-cluster"),
        pytest.param(SecretKeySelector(), CLUSTER, NO_NAMESPACE, "", id="empty-in-cluster"),
        pytest.param(THERE, CLUSTER, "", "", id="any-in-cluster"),
    ],
)
def test_namespaces(selector: Selector | None, scope: Scope, when_strict: str, when_referent: str) -> None:
    assert seen(strict(selector, scope, "auth.ref")) == _at("auth.ref.namespace", when_strict)
    assert seen(referent(selector, scope, "auth.ref")) == _at("auth.ref.namespace", when_referent)


def test_the_context_goes_before_the_message() -> None:
    assert seen(strict(OPEN, CLUSTER, "ref", "invalid Auth")) == [
        ("ref.namespace", f"invalid Auth: {NO_NAMESPACE}")
    ]
    assert seen(referent(THERE, OWN, "ref", "invalid Auth")) == [
        ("ref.namespace", f"invalid Auth: {OTHER_NAMESPACE}")
    ]


@pytest.mark.parametrize(
    ("namespace", "scope", "message"),
    [
        pytest.param(None, OWN, "", id="store"),
        pytest.param("team", OWN, "forbidden", id="store-with-its-own"),
        pytest.param(None, CLUSTER, "required", id="cluster-without"),
        pytest.param("pki", CLUSTER, "", id="cluster"),
    ],
)
def test_namespace_of_a_ca_bundle(namespace: str | None, scope: Scope, message: str) -> None:
    provider = CAProvider(type="ConfigMap", name="ca", namespace=namespace)
    found = ca_namespace(provider, scope, "caProvider", required="required", forbidden="forbidden")
    assert seen(found) == _at("caProvider.namespace", message)
    assert seen(ca_namespace(None, scope, "caProvider", required="required", forbidden="forbidden")) == []


def test_a_complete_selector_names_secret_and_key() -> None:
    assert seen(complete(OPEN, "ref", no_name="no name", no_key="no key")) == []
    assert seen(complete(SecretKeySelector(), "ref", no_name="no name", no_key="no key")) == [
        ("ref.name", "no name"),
        ("ref.key", "no key"),
    ]


@pytest.mark.parametrize("value", [None, "", (), False])
def test_what_is_empty_is_not_filled(value: object) -> None:
    assert seen(filled(value, "field", "missing", "write it")) == [("field", "missing")]
    assert seen(filled("x", "field", "missing", "write it")) == []


@pytest.mark.parametrize(
    ("value", "ref", "message"),
    [
        pytest.param("inline", None, "", id="value"),
        pytest.param(None, OPEN, "", id="reference"),
        pytest.param("", OPEN, "", id="empty-value"),
        pytest.param("inline", OPEN, "cannot specify both value and reference", id="both"),
        pytest.param("", None, "must specify either value or reference", id="neither"),
    ],
)
def test_value_or_reference(value: str | None, ref: SecretKeySelector | None, message: str) -> None:
    assert seen(value_or_ref(value, ref, "clientId")) == _at("clientId", message)


def _at(path: str, message: str) -> list[tuple[str, str]]:
    return [(path, message)] if message else []
