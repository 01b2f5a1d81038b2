"""The spec of a Doppler store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Int64, Model, Rule, SecretKeySelector, ServiceAccountSelector
from syncret.config.meta import Document
from syncret.providers.kit.spec_rules import filled, strict


class DopplerSecretRef(Model):
    """A Doppler token from a Secret; its key is `dopplerToken` by default."""

    doppler_token: SecretKeySelector


class DopplerOidc(Model):
    """Exchanges a ServiceAccount's token for a Doppler token."""

    identity: str
    """The ID of the Doppler service account identity that trusts the cluster."""
    service_account_ref: ServiceAccountSelector
    expiration_seconds: Int64 = 600


def _has_one(document: Document) -> bool:
    return ("secretRef" in document) != ("oidcConfig" in document)


class DopplerAuth(Model):
    """How the store authenticates."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "Exactly one of 'secretRef' or 'oidcConfig' must be specified",
            "(has(self.secretRef) && !has(self.oidcConfig)) || "
            "(!has(self.secretRef) && has(self.oidcConfig))",
            _has_one,
        ),
    )

    secret_ref: DopplerSecretRef | None = None
    oidc_config: DopplerOidc | None = None


class DopplerSpec(Model):
    """Reads secrets of one config of one project. A service token implies both."""

    auth: DopplerAuth
    project: str | None = None
    config: str | None = None
    name_transformer: (
        Literal["upper-camel", "camel", "lower-snake", "tf-var", "dotnet-env", "lower-kebab"] | None
    ) = None
    """How Doppler spells the names that it returns."""
    format: Literal["json", "dotnet-json", "env", "yaml", "docker"] | None = None
    """Downloads all secrets as one file of this format, under the key `DOPPLER_SECRETS_FILE`."""


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
