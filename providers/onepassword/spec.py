"""The spec of a 1Password Connect store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit import spec_rules
from syncret.providers.kit.spec_rules import address


class OnePasswordAuthSecretRef(Model):
    """The Secret key with the token.

    Example: {connectTokenSecretRef: {name: connect-login, key: token}}
    """

    connect_token_secret_ref: SecretKeySelector
    """An access token of the Connect server, for all vaults of the store.
    Example: {name: connect-login, key: token}"""


class OnePasswordAuth(Model):
    """How the store authenticates to the Connect server.

    Example: {secretRef: {connectTokenSecretRef: {name: connect-login, key: token}}}
    """

    secret_ref: OnePasswordAuthSecretRef
    """A token that is kept in a Secret."""


class OnePasswordSpec(Model):
    """Reads and writes items in vaults of 1Password, through a Connect server.

    Example: {connectHost: 'https://connect.example.com:8080', vaults: {staging: 1}, auth: {secretRef:
    {connectTokenSecretRef: {name: connect-login, key: token}}}}
    """

    auth: OnePasswordAuth
    """How the store authenticates to the Connect server."""
    connect_host: str
    """Address of the Connect server, without `/v1`. Example: https://connect.example.com:8080"""
    vaults: dict[str, int]
    """Which vaults are searched, by name or ID, and in which order: the lowest number first.
    Example: {staging: 1, shared: 2}"""


def check(spec: OnePasswordSpec, scope: Scope) -> Iterator[Problem]:
    """The token is named and in scope, the vaults have an order, the server has an address."""
    context = "received invalid 1Password SecretStore resource"
    token = spec.auth.secret_ref.connect_token_secret_ref
    path = "auth.secretRef.connectTokenSecretRef"
    yield from spec_rules.complete(
        token,
        path,
        no_name=f"{context}: missing: spec.provider.onepassword.{path}.name",
        no_key=f"{context}: missing: spec.provider.onepassword.{path}.key",
    )
    yield from spec_rules.strict(token, scope, path, context)
    if not spec.vaults:
        yield Problem(
            path="vaults",
            message=f"{context}: must be at least one vault: spec.provider.onepassword.vaults",
            hint="write the name of a vault and its place in the order, such as `staging: 1`",
        )
    if len(set(spec.vaults.values())) != len(spec.vaults):
        yield Problem(
            path="vaults",
            message=f"{context}: vault order numbers must be unique",
            hint="number the vaults in the order in which they are to be searched",
        )
    if address(spec.connect_host) is None:
        yield Problem(
            path="connectHost",
            message=f"{context}: unable to parse URL: spec.provider.onepassword.connectHost",
            hint="write an address such as https://connect.example.com:8080",
        )
