"""The spec of a Bitwarden Secrets Manager store, and its rules beyond the schema."""

from collections.abc import Iterator

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem, Severity
from syncret.config.fields import CAProvider, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import filled


class BitwardenSecretRef(Model):
    """The access token of a machine account, from a Secret."""

    credentials: SecretKeySelector


class BitwardenAuth(Model):
    """How the store authenticates."""

    secret_ref: BitwardenSecretRef


class BitwardenSpec(Model):
    """Reads and writes secrets of one project."""

    auth: BitwardenAuth
    organization_id: str = msgspec.field(name="organizationID")
    project_id: str = msgspec.field(name="projectID")
    bitwarden_server_sdk_url: str | None = msgspec.field(default=None, name="bitwardenServerSDKURL")
    """The SDK server, a small https service that calls Bitwarden for the store."""
    api_url: str | None = msgspec.field(default=None, name="apiURL")
    identity_url: str | None = msgspec.field(default=None, name="identityURL")
    ca_bundle: str | None = None
    """The CA of the SDK server's certificate, in base64."""
    ca_provider: CAProvider | None = None


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
