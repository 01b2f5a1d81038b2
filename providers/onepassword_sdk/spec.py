"""The spec of a 1Password store that uses a service account, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Duration, Model, Rule, SecretKeySelector, at_most_one
from syncret.providers.kit import spec_rules


class OnePasswordSDKAuth(Model):
    """The Secret key with the service account's token."""

    service_account_secret_ref: SecretKeySelector


class IntegrationInfo(Model):
    """The name under which 1Password's activity log shows the calls."""

    name: str = "1Password SDK"
    version: str = "v1.0.0"


class CacheConfig(Model):
    """Caches values, so that fewer calls count against the account's limit."""

    ttl: Duration = "5m"
    max_size: Annotated[int, Meta(ge=1)] = 100
    """How many secrets are cached; the least recently used one is evicted first."""


class OnePasswordSDKSpec(Model):
    """A store in a vault of 1Password, or in the variables of one of its environments."""

    auth: OnePasswordSDKAuth
    vault: str = ""
    """Name or ID, without `op://`."""
    environment: str = ""
    """The ID of an environment; read only."""
    integration_info: IntegrationInfo | None = None
    cache: CacheConfig | None = None
    """The cache; enabled if the field is present, even if empty."""

    RULES: ClassVar[tuple[Rule, ...]] = (at_most_one("vault", "environment"),)


def check(spec: OnePasswordSDKSpec, scope: Scope) -> Iterator[Problem]:
    """The token is named and in scope, and a vault or an environment is set."""
    context = "received invalid 1PasswordSdk SecretStore resource"
    # The messages have the former name of the field, as in the operator.
    once = "spec.provider.onepasswordsdk.auth.secretRef.serviceAccountTokenSecretRef"
    token, path = spec.auth.service_account_secret_ref, "auth.serviceAccountSecretRef"
    yield from spec_rules.complete(
        token, path, no_name=f"{context}: missing: {once}.name", no_key=f"{context}: missing: {once}.key"
    )
    yield from spec_rules.strict(token, scope, path, context)
    if not (spec.vault or spec.environment):
        yield Problem(
            path="vault",
            message=(
                f"{context}: missing: exactly one of spec.provider.onepasswordsdk.vault"
                " or spec.provider.onepasswordsdk.environment must be set"
            ),
            hint="name the vault, or give the ID of an environment instead",
        )
