"""The spec of a Conjur store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import CAProvider, Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import filled, referent


class ApiKeyAuth(Model):
    """Logs in as a host or user with its API key.

    Example: {account: acme, userRef: {name: conjur-login, key: host}, apiKeyRef: {name: conjur-login,
    key: apikey}}
    """

    account: str
    """Name of the Conjur account. Example: acme"""
    user_ref: SecretKeySelector
    """The user, or the host with `host/` before its ID. Example: {name: conjur-login, key: host}"""
    api_key_ref: SecretKeySelector
    """The API key. Example: {name: conjur-login, key: key}"""


class CertAuth(Model):
    """Logs in with a client certificate.

    Example: {account: acme, serviceID: prod, clientCertRef: {name: conjur-tls, key: tls.crt}, clientKeyRef:
    {name: conjur-tls, key: tls.key}}
    """

    account: str
    """Name of the Conjur account. Example: acme"""
    service_id: str = msgspec.field(name="serviceID")
    """ID of the certificate authenticator's web service. Example: prod"""
    client_cert_ref: SecretKeySelector
    """The certificate, as PEM. Example: {name: conjur-tls, key: tls.crt}"""
    client_key_ref: SecretKeySelector
    """Its private key, as PEM without a password. Example: {name: conjur-tls, key: tls.key}"""
    host_id: str | None = None
    """The host; absent: the one that the SPIFFE ID of the certificate names. Example: host/apps/shop"""


class JwtAuth(Model):
    """Logs in with a JWT: a ServiceAccount's token, or one from a Secret.

    Example: {account: acme, serviceID: prod, serviceAccountRef: {name: app}}
    """

    account: str
    """Name of the Conjur account. Example: acme"""
    service_id: str = msgspec.field(name="serviceID")
    """ID of the JWT authenticator's web service. Example: prod"""
    host_id: str | None = None
    """The host; absent: the authenticator takes it from the token. Example: host/apps/shop"""
    service_account_ref: ServiceAccountSelector | None = None
    """The ServiceAccount whose token is sent; it wins over `secretRef`. Example: {name: app}"""
    secret_ref: SecretKeySelector | None = None
    """A JWT that is kept in a Secret; the key is `token` by default. Example: {name: jwt, key: token}"""


class ConjurAuth(Model):
    """How the store authenticates: exactly one of the three.

    Example: {jwt: {account: acme, serviceID: prod, serviceAccountRef: {name: app}}}
    """

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    apikey: ApiKeyAuth | None = None
    """A host or user with its API key."""
    cert: CertAuth | None = None
    """A host with a client certificate."""
    jwt: JwtAuth | None = None
    """A host with a JWT."""


class ConjurSpec(Model):
    """Reads variables of one Conjur account.

    Example: {url: 'https://conjur.example.com', auth: {jwt: {account: acme, serviceID: prod,
    serviceAccountRef: {name: app}}}}
    """

    url: str
    """Address of Conjur; that of Conjur Cloud may lack its `/api`. Example: https://conjur.example.com"""
    auth: ConjurAuth
    """How the store authenticates to Conjur."""
    ca_bundle: str | None = None
    """The authorities that signed the server's certificate, as PEM or as base64 of it; absent: the machine's.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """Where the authorities are kept, in place of `caBundle`."""


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
