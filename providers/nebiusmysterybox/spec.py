"""The spec of a Nebius MysteryBox store, and its rules beyond the schema."""

import re
from collections.abc import Iterator
from typing import ClassVar, Final

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, Rule, SecretKeySelector, at_least_one
from syncret.providers.kit import spec_rules
from syncret.providers.kit.host_names import in_ascii

_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_LONGEST: Final = 253


class NebiusAuth(Model):
    """How the store authenticates: a service account or an IAM token, exactly one of them.

    Example: {serviceAccountCredsSecretRef: {name: nebius-login, key: credentials.json}}
    """

    service_account_creds_secret_ref: SecretKeySelector | None = None
    """The JSON document with a service account's key, which IAM tokens are exchanged for.
    Example: {name: nebius-login, key: credentials.json}"""
    token_secret_ref: SecretKeySelector | None = None
    """An IAM token, which is not renewed. Example: {name: nebius-login, key: token}"""

    RULES: ClassVar[tuple[Rule, ...]] = (at_least_one("serviceAccountCredsSecretRef", "tokenSecretRef"),)


class NebiusCAProvider(Model):
    """The CA of the server's certificate.

    Example: {certSecretRef: {name: nebius-ca, key: ca.crt}}
    """

    cert_secret_ref: SecretKeySelector | None = None
    """The authorities, as PEM. Example: {name: nebius-ca, key: ca.crt}"""


class NebiusSpec(Model):
    """Reads secrets of Nebius MysteryBox; keys are their IDs.

    Example: {apiDomain: 'api.nebius.cloud:443', auth: {serviceAccountCredsSecretRef: {name: nebius-login,
    key: credentials.json}}}
    """

    api_domain: str
    """A host with or without a port, and without a scheme; services are at names below it.
    Example: api.nebius.cloud:443"""
    auth: NebiusAuth
    """How the store authenticates to Nebius."""
    ca_provider: NebiusCAProvider | None = None
    """Authorities of servers' certificates; absent: the system's trust store."""


def check(spec: NebiusSpec, scope: Scope) -> Iterator[Problem]:
    """The domain is valid, exactly one credential is complete, and all Secrets are in scope."""
    if reason := _no_domain(spec.api_domain):
        yield Problem(
            path="apiDomain", message=reason, hint="write a host such as api.example.com, or host:port"
        )
    yield from _check_auth(spec.auth, scope)
    if spec.ca_provider is not None:
        selector = spec.ca_provider.cert_secret_ref or SecretKeySelector()
        yield from spec_rules.complete(
            selector,
            "caProvider.certSecretRef",
            no_name="invalid certificate configuration: no name specified",
            no_key="invalid certificate configuration: no key specified",
        )
        yield from spec_rules.strict(selector, scope, "caProvider.certSecretRef")


def _check_auth(auth: NebiusAuth, scope: Scope) -> Iterator[Problem]:
    given = [
        (path, kind, selector)
        for path, kind, selector in (
            ("auth.tokenSecretRef", "token", auth.token_secret_ref),
            (
                "auth.serviceAccountCredsSecretRef",
                "ServiceAccount creds",
                auth.service_account_creds_secret_ref,
            ),
        )
        if selector is not None and selector.name
    ]
    if not given:
        yield Problem(
            path="auth",
            message="invalid auth configuration: none provided",
            hint="name the Secret that holds the token or the service account's credentials",
        )
    if len(given) > 1:
        yield Problem(
            path="auth",
            message="invalid auth configuration: exactly one must be specified",
            hint="remove tokenSecretRef or serviceAccountCredsSecretRef",
        )
    for path, kind, selector in given:
        yield from spec_rules.filled(
            selector.key,
            f"{path}.key",
            f"invalid {kind} auth configuration: no secret key specified",
            "write under which key of the Secret the value is",
        )
        yield from spec_rules.strict(selector, scope, path)


def _no_domain(domain: str) -> str:
    """Why this is no host name with an optional port, or an empty string."""
    if not domain.strip():
        return "API domain must be set"
    reason = "scheme is not allowed" if "://" in domain else _no_host(domain)
    return f"API domain is not valid: {reason}" if reason else ""


def _no_host(domain: str) -> str:
    host, *port = domain.split(":")
    if len(port) > 1:
        return "too many colons in address"
    name = in_ascii(host).lower()
    if host and not name:
        return "it is not an internationalised domain name"
    labels = name.split(".")
    if name.endswith("."):
        return "domain must not end with a dot"
    if len(name) > _LONGEST:
        return "domain length out of range"
    if len(labels) == 1:
        return "domain must contain at least one dot"
    if not all(map(_LABEL.fullmatch, labels)):
        return "invalid label: letters, digits and inner hyphens only, 63 at most"
    return "numeric TLD is not allowed" if labels[-1].isdigit() else ""
