"""The spec of a BeyondTrust Password Safe store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Assumed, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import address, complete, filled, referent

_METHODS: Final = "set auth.apiKey, or auth.clientId and auth.clientSecret"


class BeyondTrustCredential(Model):
    """One part of the credentials: read from a Secret, or written here."""

    value: str | None = None
    """The text itself, for what is no secret. Example: 6b2f3c1e-8a6b-4c5d-9e7f-2a3b4c5d6e7f"""
    secret_ref: SecretKeySelector | None = None
    """The Secret that has it, instead of `value`."""


class BeyondTrustAuth(Model):
    """How the store authenticates: an API key or an OAuth client, and optionally a client certificate."""

    api_key: BeyondTrustCredential | None = None
    """The key of an API registration; it wins over an OAuth client."""
    client_id: BeyondTrustCredential | None = None
    """The OAuth client of an application user."""
    client_secret: BeyondTrustCredential | None = None
    """The secret of that client."""
    certificate: BeyondTrustCredential | None = None
    """A client certificate as PEM, for registrations that demand one."""
    certificate_key: BeyondTrustCredential | None = None
    """Its private key as PEM."""


class BeyondTrustServer(Model):
    """The Password Safe, and what is read from it."""

    api_url: str
    """Address of the API, which ends with `/BeyondTrust/api/public/v3`.
    Example: https://safe.example.com/BeyondTrust/api/public/v3"""
    verify_ca: bool = msgspec.field(name="verifyCA")
    """Whether the server's certificate must be trusted; without that, any machine on the way could read the
    secrets."""
    api_version: str | None = None
    """The version of the API's answers; absent: 3.0. Example: '3.1'"""
    retrieval_type: str | None = None
    """SECRET reads Secrets Safe; MANAGED_ACCOUNT, or none, the passwords of managed accounts.
    Example: SECRET"""
    separator: str | None = None
    """What separates the parts of a key; absent: a slash. Example: '|'"""
    decrypt: bool = True
    """Whether Secrets Safe sends values decrypted."""
    client_time_out_seconds: Assumed[int] = 45
    """Seconds to wait for an answer, in ESO; accepted, the setting `callTimeout` counts. Example: 30"""


class BeyondTrustSpec(Model):
    """Reads and writes secrets of a Password Safe, or reads its managed accounts."""

    auth: BeyondTrustAuth
    """How the store authenticates to Password Safe."""
    server: BeyondTrustServer
    """Where Password Safe is."""


def check(spec: BeyondTrustSpec, scope: Scope) -> Iterator[Problem]:
    """The server's address is a URL, and one way to log in is complete."""
    server = address(spec.server.api_url)
    if not (server and server.host):
        yield Problem(
            path="server.apiUrl",
            message="invalid host URL",
            hint="write it with scheme and host, such as https://example.com/BeyondTrust/api/public/v3",
        )
    auth = spec.auth
    if auth.api_key:
        yield from _check_credential(auth.api_key, scope, "apiKey")
    elif auth.client_id and auth.client_secret:
        yield from _check_credential(auth.client_id, scope, "clientId")
        yield from _check_credential(auth.client_secret, scope, "clientSecret")
    elif auth.client_id or auth.client_secret:
        yield Problem(
            path="auth",
            message="both clientId and clientSecret must be set for OAuth authentication",
            hint="write the other one too",
        )
    else:
        yield Problem(path="auth", message=f"no authentication method configured: {_METHODS}", hint=_METHODS)
    yield from _check_certificate(auth, scope)


def _check_certificate(auth: BeyondTrustAuth, scope: Scope) -> Iterator[Problem]:
    if (auth.certificate is None) != (auth.certificate_key is None):
        yield Problem(
            path="auth",
            message="certificate and certificateKey must both be set for client-certificate authentication; "
            "the incomplete pair is ignored",
            hint="write the other one too, or remove both",
            severity=Severity.WARNING,
        )
    if auth.certificate:
        yield from _check_credential(auth.certificate, scope, "certificate")
    if auth.certificate_key:
        yield from _check_credential(auth.certificate_key, scope, "certificateKey")


def _check_credential(credential: BeyondTrustCredential, scope: Scope, field: str) -> Iterator[Problem]:
    path, ref = f"auth.{field}", credential.secret_ref
    yield from filled(
        ref or credential.value,
        path,
        f"{field}: either secretRef or value must be set",
        "write a secretRef",
    )
    if ref is None:
        return
    if credential.value:
        yield Problem(
            path=path,
            message=f"{field}: cannot specify both secret reference and value",
            hint="keep secretRef, remove value",
        )
    yield from complete(
        ref,
        f"{path}.secretRef",
        no_name=f"{field}: must specify a secret name",
        no_key=f"{field}: must specify a secret key",
    )
    yield from referent(ref, scope, f"{path}.secretRef", field)
