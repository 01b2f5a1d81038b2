"""The spec of a Previder Vault store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit import spec_rules


class PreviderAuthSecretRef(Model):
    """The Secret key with the access token.

    Example: {accessToken: {name: previder-login, key: token}}
    """

    access_token: SecretKeySelector
    """A token of the environment. Example: {name: previder-login, key: token}"""


class PreviderAuth(Model):
    """How the store authenticates.

    Example: {secretRef: {accessToken: {name: previder-login, key: token}}}
    """

    secret_ref: PreviderAuthSecretRef | None = None
    """A token that is kept in a Secret; required."""


class PreviderSpec(Model):
    """Reads the secrets of one environment in Previder Vault.

    Example: {auth: {secretRef: {accessToken: {name: previder-login, key: token}}}}
    """

    auth: PreviderAuth
    """How the store authenticates to Previder Vault."""
    base_uri: str = ""
    """Address of the API; absent: https://vault.previder.io. Example: https://vault.example.com"""


def check(spec: PreviderSpec, _scope: Scope) -> Iterator[Problem]:
    """The access token's Secret and key are named."""
    if spec.auth.secret_ref is None:
        yield Problem(
            path="auth.secretRef",
            message="missing Previder Auth SecretRef",
            hint="write secretRef.accessToken with the Secret's name and key",
        )
        return
    yield from spec_rules.complete(
        spec.auth.secret_ref.access_token,
        "auth.secretRef.accessToken",
        no_name="missing Previder accessToken name",
        no_key="missing Previder accessToken key",
    )
