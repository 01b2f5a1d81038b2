"""The spec of an OVHcloud store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Int32, Model, SecretKeySelector
from syncret.providers.kit import spec_rules
from syncret.providers.kit.spec_rules import address


class OvhToken(Model):
    """Login with a token.

    Example: {tokenSecretRef: {name: ovh-login, key: token}}
    """

    token_secret_ref: SecretKeySelector
    """A personal access token, or that of a service account. Example: {name: ovh-login, key: token}"""


class OvhMTLS(Model):
    """Login with a client certificate.

    Example: {certSecretRef: {name: ovh-login, key: tls.crt}, keySecretRef: {name: ovh-login, key: tls.key}}
    """

    cert_secret_ref: SecretKeySelector
    """The certificate, as PEM. Example: {name: ovh-login, key: tls.crt}"""
    key_secret_ref: SecretKeySelector
    """Its private key, as PEM without a password. Example: {name: ovh-login, key: tls.key}"""
    ca_bundle: Base64 = ""
    """The authorities that signed the server's certificate, as base64 of PEM; absent: the machine's.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """Where these authorities are kept, instead of in the store."""


class OvhAuth(Model):
    """How the store authenticates: one of the two.

    Example: {token: {tokenSecretRef: {name: ovh-login, key: token}}}
    """

    token: OvhToken | None = None
    """A token that is kept in a Secret."""
    mtls: OvhMTLS | None = None
    """A client certificate that OVHcloud has signed."""


class OvhSpec(Model):
    """Reads and writes secrets of one OKMS domain.

    Example: {server: 'https://eu-west-rbx.okms.ovh.net', okmsid: 734b9b45-8b1a-469c-b140-b10bd6540017, auth:
    {token: {tokenSecretRef: {name: ovh-login, key: token}}}}
    """

    server: str
    """Address of the region's endpoint. Example: https://eu-west-rbx.okms.ovh.net"""
    okmsid: str
    """ID of the OKMS domain. Example: 734b9b45-8b1a-469c-b140-b10bd6540017"""
    auth: OvhAuth
    """How the store authenticates to OVHcloud."""
    cas_required: bool | None = None
    """Pushes with check-and-set, so that a concurrent write is refused, not lost."""
    okms_timeout: Annotated[Int32, Meta(ge=1)] = 30
    """The time limit of a request in seconds, in ESO; accepted, here the setting `callTimeout` counts.
    Example: 60"""


def check(spec: OvhSpec, _scope: Scope) -> Iterator[Problem]:
    """The server has an address, the domain an ID, and the login is complete."""
    yield from spec_rules.filled(
        spec.server, "server", "ovh store server is required", "write the endpoint of the OKMS domain"
    )
    if address(spec.server) is None:
        yield Problem(
            path="server",
            message="ovh store server must contain a valid url",
            hint="write an address such as https://eu-west-rbx.okms.ovh.net",
        )
    yield from spec_rules.filled(
        spec.okmsid, "okmsid", "ovh store okmsID is required", "write the ID of the domain"
    )
    yield from _check_auth(spec.auth)


def _check_auth(auth: OvhAuth) -> Iterator[Problem]:
    nothing = SecretKeySelector()
    if auth.token is None and auth.mtls is None:
        yield Problem(path="auth", message="missing authentication method", hint="write token or mtls")
    if auth.token is not None and auth.mtls is not None:
        yield Problem(
            path="auth",
            message="only one authentication method allowed (mtls | token)",
            hint="remove one of them",
        )
    if auth.token is not None and auth.token.token_secret_ref == nothing:
        yield Problem(
            path="auth.token.tokenSecretRef",
            message="missing token secret for token authentication",
            hint="name the Secret and the key that hold the token",
        )
    if auth.mtls is not None and nothing in {auth.mtls.cert_secret_ref, auth.mtls.key_secret_ref}:
        yield Problem(
            path="auth.mtls",
            message="missing tls certificate or key for mtls authentication",
            hint="name the Secrets and keys that hold certificate and private key",
        )
