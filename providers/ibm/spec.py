"""The spec of an IBM Cloud Secrets Manager store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import complete, filled, mounted, strict


class IbmContainerAuth(Model):
    """Logs in as a trusted profile, with the token that is mounted into the daemon's own container.

    Example: {profile: secrets-reader}
    """

    profile: str
    """Name of the trusted profile; it must be linked to cluster, namespace and ServiceAccount.
    Example: secrets-reader"""
    token_location: str | None = None
    """File with the token, below a folder of the setting `manifestFiles`; absent:
    `/var/run/secrets/tokens/vault-token`.
    Example: /var/run/secrets/tokens/ibm-token"""
    iam_endpoint: str | None = None
    """Address of the login: the token is sent there; absent: https://iam.cloud.ibm.com.
    Example: https://private.iam.cloud.ibm.com"""


class IbmSecretRef(Model):
    """An API key, from a Secret.

    Example: {secretApiKeySecretRef: {name: ibm-login, key: apikey}}
    """

    secret_api_key_secret_ref: SecretKeySelector = SecretKeySelector()
    """The API key of a user or a service ID. Example: {name: ibm-login, key: apikey}"""
    iam_endpoint: str | None = None
    """Address of the login: the key is sent there; absent: https://iam.cloud.ibm.com.
    Example: https://private.iam.cloud.ibm.com"""


class IbmAuth(Model):
    """How the store authenticates: exactly one of the two.

    Example: {secretRef: {secretApiKeySecretRef: {name: ibm-login, key: apikey}}}
    """

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    container_auth: IbmContainerAuth | None = None
    """A trusted profile, with a token of the daemon's own container."""
    secret_ref: IbmSecretRef | None = None
    """An API key that is kept in a Secret."""


class IbmSpec(Model):
    """Reads secrets of one instance.

    Example: {serviceUrl: 'https://instance-id.us-south.secrets-manager.appdomain.cloud', auth: {secretRef:
    {secretApiKeySecretRef: {name: ibm-login, key: apikey}}}}
    """

    auth: IbmAuth
    """How the store authenticates to IBM Cloud."""
    service_url: str | None = None
    """The instance's own endpoint, without a path.
    Example: https://instance-id.us-south.secrets-manager.appdomain.cloud"""


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
