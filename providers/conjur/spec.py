"""The spec of a Conjur store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import CAProvider, Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import filled, referent


class ApiKeyAuth(Model):
    """Logs in as a host or user with its API key."""

    account: str
    user_ref: SecretKeySelector
    api_key_ref: SecretKeySelector


class CertAuth(Model):
    """Logs in with a client certificate."""

    account: str
    service_id: str = msgspec.field(name="serviceID")
    """The ID of the certificate authenticator's web service."""
    client_cert_ref: SecretKeySelector
    client_key_ref: SecretKeySelector
    host_id: str | None = None
    """Not needed if the certificate has a SPIFFE ID."""


class JwtAuth(Model):
    """Logs in with a JWT: a ServiceAccount's token, or one from a Secret."""

    account: str
    service_id: str = msgspec.field(name="serviceID")
    """The ID of the JWT authenticator's web service."""
    host_id: str | None = None
    """Not needed if the authenticator takes the host from the token."""
    service_account_ref: ServiceAccountSelector | None = None
    secret_ref: SecretKeySelector | None = None
    """Its key is `token` by default."""


class ConjurAuth(Model):
    """How the store authenticates: exactly one of the three."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    apikey: ApiKeyAuth | None = None
    cert: CertAuth | None = None
    jwt: JwtAuth | None = None


class ConjurSpec(Model):
    """Reads variables of one Conjur account."""

    url: str
    auth: ConjurAuth
    ca_bundle: str | None = None
    """The CA of the server's certificate, as PEM."""
    ca_provider: CAProvider | None = None


def check(spec: ConjurSpec, scope: Scope) -> Iterator[Problem]:
    """Address and login are complete, selectors are in scope."""
    yield from filled(spec.url, "url", "conjur URL cannot be empty", "write the address of Conjur")
    if spec.auth.apikey:
        yield from _check_api_key(spec.auth.apikey, scope)
    if spec.auth.jwt:
        yield from _check_jwt(spec.auth.jwt, scope)
    if spec.auth.cert:
        yield from _check_cert(spec.auth.cert, scope)


def _check_api_key(auth: ApiKeyAuth, scope: Scope) -> Iterator[Problem]:
    base = "auth.apikey"
    yield from _account(auth.account, base, "missing Auth.ApiKey.Account")
    yield from referent(auth.user_ref, scope, f"{base}.userRef", "invalid Auth.Apikey.UserRef")
    yield from referent(auth.api_key_ref, scope, f"{base}.apiKeyRef", "invalid Auth.Apikey.ApiKeyRef")


def _check_jwt(auth: JwtAuth, scope: Scope) -> Iterator[Problem]:
    base = "auth.jwt"
    yield from _account(auth.account, base, "missing Auth.Jwt.Account")
    yield from _service(auth.service_id, base, "missing Auth.Jwt.ServiceID")
    yield from filled(
        auth.secret_ref or auth.service_account_ref,
        base,
        "must specify Auth.Jwt.SecretRef or Auth.Jwt.ServiceAccountRef",
        "write the serviceAccountRef whose token Conjur shall see",
    )
    yield from referent(auth.secret_ref, scope, f"{base}.secretRef", "invalid Auth.Jwt.SecretRef")
    context = "invalid Auth.Jwt.ServiceAccountRef"
    yield from referent(auth.service_account_ref, scope, f"{base}.serviceAccountRef", context)


def _check_cert(auth: CertAuth, scope: Scope) -> Iterator[Problem]:
    base = "auth.cert"
    yield from _account(auth.account, base, "missing Auth.Cert.Account")
    yield from _service(auth.service_id, base, "missing Auth.Cert.ServiceID")
    for field, ref in (("ClientCertRef", auth.client_cert_ref), ("ClientKeyRef", auth.client_key_ref)):
        path = f"{base}.c{field[1:]}"
        yield from filled(ref.name, f"{path}.name", f"missing Auth.Cert.{field}.Name", "name the Secret")
        yield from referent(ref, scope, path, f"invalid Auth.Cert.{field}")


def _account(account: str, base: str, message: str) -> Iterator[Problem]:
    return filled(account, f"{base}.account", message, "write the name of the Conjur account")


def _service(service_id: str, base: str, message: str) -> Iterator[Problem]:
    return filled(service_id, f"{base}.serviceID", message, "write the ID of the authenticator's web service")
