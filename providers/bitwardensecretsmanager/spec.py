"""The spec of a Bitwarden Secrets Manager store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem, Severity
from syncret.config.fields import CAProvider, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import filled

BATCH: Final = 100
"""Secrets that are read in one call."""


class BitwardenSecretRef(Model):
    """The access token of a machine account, from a Secret.

    Example: {credentials: {name: bitwarden-login, key: token}}
    """

    credentials: SecretKeySelector
    """The token. Example: {name: bitwarden-login, key: token}"""


class BitwardenAuth(Model):
    """How the store authenticates.

    Example: {secretRef: {credentials: {name: bitwarden-login, key: token}}}
    """

    secret_ref: BitwardenSecretRef
    """A token that is kept in a Secret."""


class BitwardenSpec(Model):
    """Reads and writes secrets of one project.

    Example: {organizationID: 5688eeb8-24d8-4d4c-aa16-b0b10035a0a5, projectID:
    b8a5a1f0-7f60-4d43-9d0c-b0b10035c2d1, bitwardenServerSDKURL: 'https://bitwarden.example.com:9998', auth:
    {secretRef: {credentials: {name: bitwarden-login, key: token}}}}
    """

    auth: BitwardenAuth
    """How the store authenticates to Bitwarden."""
    organization_id: str = msgspec.field(name="organizationID")
    """ID of the organization. Example: 5688eeb8-24d8-4d4c-aa16-b0b10035a0a5"""
    project_id: str = msgspec.field(name="projectID")
    """ID of the project whose secrets are known by name. Example: b8a5a1f0-7f60-4d43-9d0c-b0b10035c2d1"""
    bitwarden_server_sdk_url: str | None = msgspec.field(default=None, name="bitwardenServerSDKURL")
    """The SDK server, a small https service that calls Bitwarden for the store.
    Example: https://bitwarden.example.com:9998"""
    api_url: str | None = msgspec.field(default=None, name="apiURL")
    """Bitwarden's API; absent: https://api.bitwarden.com. Example: https://api.bitwarden.eu"""
    identity_url: str | None = msgspec.field(default=None, name="identityURL")
    """Where Bitwarden is logged in to; absent: https://identity.bitwarden.com.
    Example: https://identity.bitwarden.eu"""
    ca_bundle: str | None = None
    """The CA of the SDK server's certificate, PEM in base64.
    Example: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"""
    ca_provider: CAProvider | None = None
    """Where the CA of the SDK server's certificate is.
    Example: {type: ConfigMap, name: bitwarden-ca, key: ca.crt}"""


def check(spec: BitwardenSpec, _scope: Scope) -> Iterator[Problem]:
    """The SDK server's address is set; without a CA the system's trust store is used."""
    yield from filled(
        spec.bitwarden_server_sdk_url,
        "bitwardenServerSDKURL",
        "bitwardenServerSDKURL not configured",
        "write the address of the SDK server",
    )
    if not (spec.ca_bundle or spec.ca_provider):
        yield Problem(
            path="caProvider",
            message="Neither CA nor CA bundle is configured; user is expected to provide certificate "
            "information via volume mount.",
            hint="write caProvider or caBundle",
            severity=Severity.WARNING,
        )
