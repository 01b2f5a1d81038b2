"""Which namespaces a store may refer to, when a selector is complete, and what is the URL of a server."""

from collections.abc import Iterator

import pytest

from syncret.config.catalog import OTHER_NAMESPACE, Scope
from syncret.config.errors import Problem
from syncret.config.fields import CAProvider, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import (
    NO_NAMESPACE,
    Address,
    Selector,
    address,
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


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param(
            "https://vault.example.com:8200/v1", Address("https", "vault.example.com:8200"), id="port"
        ),
        pytest.param("HTTPS://vault", Address("https", "vault"), id="capitals"),
        pytest.param("http://vault:", Address("http", "vault:"), id="empty-port"),
        pytest.param("http://[::1]:8200/", Address("http", "[::1]:8200"), id="ipv6"),
        pytest.param("http://[::1]", Address("http", "[::1]"), id="ipv6-alone"),
        pytest.param("https://user:word@vault", Address("https", "vault"), id="user"),
        pytest.param("https://user@", Address("https", ""), id="user-alone"),
        pytest.param("https://vault/a%20b c?q=%zz", Address("https", "vault"), id="path-with-space"),
        pytest.param("unix:/run/vault.sock", Address("unix", ""), id="no-host"),
        pytest.param("localhost:8200", Address("localhost", ""), id="host-read-as-scheme"),
        pytest.param("not-a-url", Address("", ""), id="word"),
        pytest.param("/path/", Address("", ""), id="path"),
        pytest.param("", Address("", ""), id="empty"),
        pytest.param("http://a b", None, id="space-in-host"),
        pytest.param("http://vault:port/", None, id="port-in-letters"),
        pytest.param("http://[::1]:port", None, id="ipv6-port-in-letters"),
        pytest.param("http://[vault", None, id="open-bracket"),
        pytest.param("http://va%6Cult", None, id="escape-in-host"),
        pytest.param("http://vault/%zz", None, id="broken-escape"),
        pytest.param("http://vault/\n", None, id="line-break"),
        pytest.param("127.0.0.1:8200", None, id="address-without-scheme"),
        pytest.param(" https://vault", None, id="space-before-scheme"),
        pytest.param(" vault/a:b", Address("", ""), id="space-before-path"),
        pytest.param("://vault", None, id="no-scheme"),
    ],
)
def test_address(url: str, expected: Address | None) -> None:
    assert address(url) == expected
