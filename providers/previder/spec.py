"""The spec of a Previder Vault store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit import spec_rules


class PreviderAuthSecretRef(Model):
    """The Secret key with the access token."""

    access_token: SecretKeySelector


class PreviderAuth(Model):
    """How the store authenticates."""

    secret_ref: PreviderAuthSecretRef | None = None


class PreviderSpec(Model):
    """A store in Previder Vault."""

    auth: PreviderAuth
    base_uri: str = ""
    """Absent: https://vault.previder.io."""


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
