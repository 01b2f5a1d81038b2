"""The spec of a 1Password store that uses a service account, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final

from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Duration, Model, Rule, SecretKeySelector, at_most_one
from syncret.providers.kit import spec_rules

BATCH: Final = 50
"""Items that are read in one call."""


class OnePasswordSDKAuth(Model):
    """How the store authenticates to 1Password.

    Example: {serviceAccountSecretRef: {name: onepassword-login, key: token}}
    """

    service_account_secret_ref: SecretKeySelector
    """The token of a service account. Example: {name: onepassword-login, key: token}"""


class IntegrationInfo(Model):
    """The name under which 1Password's activity log shows the calls.

    Example: {name: syncret, version: v1.2.0}
    """

    name: str = "1Password SDK"
    """Name of the caller in 1Password's reports. Example: syncret"""
    version: str = "v1.0.0"
    """Which version of it calls. Example: v1.2.0"""


class CacheConfig(Model):
    """Keeps what was read, so that fewer requests count against the limits of the account.

    Example: {ttl: 10m, maxSize: 500}
    """

    ttl: Duration = "5m"
    """For how long something is kept; what changes meanwhile in 1Password is seen that much later.
    Example: 10m"""
    max_size: Annotated[int, Meta(ge=1)] = 100
    """How many keys are kept; the oldest one is dropped first. Example: 500"""


class OnePasswordSDKSpec(Model):
    """A store in a vault of 1Password, or in the variables of one of its environments.

    Example: {vault: staging, auth: {serviceAccountSecretRef: {name: onepassword-login, key: token}}}
    """

    auth: OnePasswordSDKAuth
    """How the store authenticates to 1Password."""
    vault: str = ""
    """Name or ID of a vault that the service account may use, without `op://`. Example: staging"""
    environment: str = ""
    """The ID of an environment, in place of a vault; it is read only. Example: kx7vbl2nrtqzjw5m3hcy4fgp6e"""
    integration_info: IntegrationInfo | None = None
    """How the calls are called in 1Password's reports."""
    cache: CacheConfig | None = None
    """Keeps what was read; enabled if the field is present, even if empty."""

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
