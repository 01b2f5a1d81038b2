"""The spec of a Devolutions Server store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import address, complete, strict


class DvlsSecretRef(Model):
    """An application's ID and secret, from Secrets.

    Example: {appId: {name: dvls-login, key: appId}, appSecret: {name: dvls-login, key: appSecret}}
    """

    app_id: SecretKeySelector
    """The application's key. Example: {name: dvls-login, key: appId}"""
    app_secret: SecretKeySelector
    """The application's secret. Example: {name: dvls-login, key: appSecret}"""


class DvlsAuth(Model):
    """How the store authenticates.

    Example: {secretRef: {appId: {name: dvls-login, key: appId}, appSecret: {name: dvls-login, key: secret}}}
    """

    secret_ref: DvlsSecretRef
    """An application that is kept in a Secret."""


class DvlsSpec(Model):
    """Reads and writes credential entries of a Devolutions Server.

    Example: {serverUrl: 'https://dvls.example.com', vault: Shop, auth: {secretRef: {appId: {name: dvls-login,
    key: appId}, appSecret: {name: dvls-login, key: appSecret}}}}
    """

    auth: DvlsAuth
    """How the store authenticates to the server."""
    server_url: str
    """Address of the server. Example: https://dvls.example.com"""
    vault: str | None = None
    """Name or UUID of the vault; without it every key begins with the vault's UUID and a slash.
    Example: Shop"""
    insecure: bool = False
    """Permits plain http, which exposes the secrets to anyone on the network path."""


def check(spec: DvlsSpec, scope: Scope) -> Iterator[Problem]:
    """The server's address is a URL and encrypted, the vault's name is valid, the login complete."""
    yield from _check_url(spec.server_url, insecure=spec.insecure)
    vault = spec.vault or ""
    if vault != vault.strip():
        yield Problem(
            path="vault",
            message="vault must not contain leading or trailing whitespace",
            hint="remove the spaces",
        )
    ref = spec.auth.secret_ref
    for field, selector in (("appId", ref.app_id), ("appSecret", ref.app_secret)):
        path = f"auth.secretRef.{field}"
        yield from complete(
            selector,
            path,
            no_name=f"{field} secret name is required",
            no_key=f"{field} secret key is required",
        )
        yield from strict(selector, scope, path, f"invalid {field}")


def _check_url(url: str, *, insecure: bool) -> Iterator[Problem]:
    server = address(url)
    hint = "write it with scheme and host, such as https://dvls.example.com"
    if not url:
        yield Problem(path="serverUrl", message="serverUrl is required", hint=hint)
    elif server is None:
        yield Problem(path="serverUrl", message="serverUrl must be a valid URL", hint=hint)
    elif not (server.scheme and server.host):
        yield Problem(
            path="serverUrl", message="serverUrl must be a valid URL with scheme and host", hint=hint
        )
    elif server.scheme not in {"http", "https"}:
        message = f'serverUrl scheme must be http or https, got "{server.scheme}"'
        yield Problem(path="serverUrl", message=message, hint=hint)
    elif server.scheme == "http" and not insecure:
        yield Problem(
            path="serverUrl",
            message="http URLs require 'insecure: true' to be set explicitly",
            hint="use https",
        )
