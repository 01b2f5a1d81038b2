"""The spec of a Doppler store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Int64, Model, Rule, SecretKeySelector, ServiceAccountSelector, either_alone
from syncret.providers.kit.spec_rules import filled, strict


class DopplerSecretRef(Model):
    """A Doppler token from a Secret.

    Example: {dopplerToken: {name: doppler-login, key: dopplerToken}}
    """

    doppler_token: SecretKeySelector
    """A service token, or that of a service account; the key is `dopplerToken` by default.
    Example: {name: doppler-login, key: dopplerToken}"""


class DopplerOidc(Model):
    """Exchanges a ServiceAccount's token for a Doppler token.

    Example: {identity: 7c1f0b6e-2c5a-4a51-9d43-0d8a1b7e6f10, serviceAccountRef: {name: app}}
    """

    identity: str
    """ID of the service account identity in Doppler, which must trust the cluster's issuer.
    Example: 7c1f0b6e-2c5a-4a51-9d43-0d8a1b7e6f10"""
    service_account_ref: ServiceAccountSelector
    """The ServiceAccount whose token is exchanged. It is for the store and these audiences; without any, for
    the store and https://api.doppler.com. Example: {name: app}"""
    expiration_seconds: Int64 = 600
    """For how long the ServiceAccount's token is requested; it is used at once. Example: 900"""


class DopplerAuth(Model):
    """How the store authenticates: exactly one of the two.

    Example: {secretRef: {dopplerToken: {name: doppler-login}}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (either_alone("secretRef", "oidcConfig"),)

    secret_ref: DopplerSecretRef | None = None
    """A token that is kept in a Secret."""
    oidc_config: DopplerOidc | None = None
    """A token that Doppler gives for that of a ServiceAccount."""


class DopplerSpec(Model):
    """Reads and writes the secrets of one config of one project.

    Example: {project: shop, config: prd, auth: {secretRef: {dopplerToken: {name: doppler-login}}}}
    """

    auth: DopplerAuth
    """How the store authenticates to Doppler."""
    project: str | None = None
    """Name of the project; a service token implies it. Example: shop"""
    config: str | None = None
    """Name of the config; a service token implies it. Example: prd"""
    name_transformer: (
        Literal["upper-camel", "camel", "lower-snake", "tf-var", "dotnet-env", "lower-kebab"] | None
    ) = None
    """How Doppler spells the names that a search returns; absent: as they are."""
    format: Literal["json", "dotnet-json", "env", "yaml", "docker"] | None = None
    """A search returns all secrets as one file of this format, under the key `DOPPLER_SECRETS_FILE`."""


def check(spec: DopplerSpec, scope: Scope) -> Iterator[Problem]:
    """The way to log in is complete and names its namespace in a cluster-scoped store."""
    context = "invalid store"
    if ref := spec.auth.secret_ref:
        path = "auth.secretRef.dopplerToken"
        yield from strict(ref.doppler_token, scope, path, context)
        yield from filled(
            ref.doppler_token.name,
            f"{path}.name",
            f"{context}: dopplerToken.name cannot be empty",
            "name the Secret that holds the token",
        )
    if oidc := spec.auth.oidc_config:
        path = "auth.oidcConfig"
        yield from filled(
            oidc.identity,
            f"{path}.identity",
            f"{context}: oidcConfig.identity cannot be empty",
            "write the ID of the service account identity",
        )
        yield from strict(oidc.service_account_ref, scope, f"{path}.serviceAccountRef", context)
