"""The spec of an IBM Cloud Secrets Manager store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import complete, filled, mounted, strict


class IbmContainerAuth(Model):
    """Logs in as a trusted profile, with the token that is mounted into the daemon's own container."""

    profile: str
    token_location: str | None = None
    """`/var/run/secrets/tokens/vault-token` by default."""
    iam_endpoint: str | None = None


class IbmSecretRef(Model):
    """An API key, from a Secret."""

    secret_api_key_secret_ref: SecretKeySelector = SecretKeySelector()
    iam_endpoint: str | None = None


class IbmAuth(Model):
    """How the store authenticates: exactly one of the two."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    container_auth: IbmContainerAuth | None = None
    secret_ref: IbmSecretRef | None = None


class IbmSpec(Model):
    """Reads secrets of one instance."""

    auth: IbmAuth
    service_url: str | None = None
    """The instance's own endpoint."""


def check(spec: IbmSpec, scope: Scope) -> Iterator[Problem]:
    """The endpoint is set, and the login is complete.

    Whether a container's token can be read is checked when the store is opened: manifests may be validated on
    another machine.
    """
    if spec.service_url is None:
        yield Problem(
            path="serviceUrl", message="serviceURL is required", hint="write the instance's endpoint"
        )
    if spec.auth.container_auth:
        yield from filled(
            spec.auth.container_auth.profile,
            "auth.containerAuth.profile",
            "container auth profile cannot be empty",
            "write the name of the trusted profile",
        )
        if spec.auth.container_auth.token_location:
            yield from mounted(spec.auth.container_auth.token_location, "auth.containerAuth.tokenLocation")
    if spec.auth.secret_ref:
        key = spec.auth.secret_ref.secret_api_key_secret_ref
        path = "auth.secretRef.secretApiKeySecretRef"
        yield from strict(key, scope, path)
        yield from complete(
            key, path, no_name="secretAPIKey.name cannot be empty", no_key="secretAPIKey.key cannot be empty"
        )
