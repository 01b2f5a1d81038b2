"""The spec of a HashiCorp Vault store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import referent, referents
from syncret.providers.kit.vault.spec import KeyValueStore
from syncret.providers.vault.auth_spec import VaultAppRole, VaultAuth, VaultIam, VaultJwt


class VaultTLS(Model):
    """A client certificate for servers that demand one of every client.

    Example: {certSecretRef: {name: vault-tls, key: tls.crt}, keySecretRef: {name: vault-tls, key: tls.key}}
    """

    cert_secret_ref: SecretKeySelector | None = None
    """The certificate in PEM; without a key, `tls.crt` is read. Example: {name: vault-tls, key: tls.crt}"""
    key_secret_ref: SecretKeySelector | None = None
    """Its private key in PEM; without a key, `tls.key` is read. Example: {name: vault-tls, key: tls.key}"""


class VaultCheckAndSet(Model):
    """Whether a push uses check-and-set, so that a concurrent write is refused, not lost."""

    required: bool | None = None
    """Whether the engine demands check-and-set; every push uses it anyway, so that no write of others is
    lost.
    Example: true"""


class VaultSpec(KeyValueStore[VaultAuth]):
    """A store in a key-value engine of a Vault server.

    Example: {server: 'https://vault.example.com:8200', path: secret, auth: {appRole: {roleId: app,
    secretRef: {name: vault-login, key: secret-id}}}}
    """

    tls: VaultTLS | None = None
    """A client certificate, if the server demands one of every client."""
    headers: dict[str, str] = {}
    """Headers that every request carries, besides those of Vault itself. Example: {X-Team: payments}"""
    read_your_writes: bool | None = None
    """Sends along which write was the last one, so that a lagging standby does not answer with older data.
    Example: true"""
    forward_inconsistent: bool | None = None
    """With `readYourWrites`, lets a lagging standby forward a read to the active node; Vault must be
    configured to allow it.
    Example: true"""
    check_and_set: VaultCheckAndSet | None = None
    """What the engine demands of a push."""


def check(spec: VaultSpec, scope: Scope) -> Iterator[Problem]:
    """Every configured login method is complete, and all Secrets are in scope."""
    if spec.auth is not None:
        yield from _check_auth(spec.auth, scope)
    if spec.tls is not None:
        yield from _check_tls(spec.tls, scope)
    if spec.version == "v1" and spec.check_and_set is not None and spec.check_and_set.required:
        yield Problem(
            path="checkAndSet",
            message="checkAndSet is not supported with Vault KV version v1",
            hint="remove it, or use an engine of version v2",
        )


def _check_auth(auth: VaultAuth, scope: Scope) -> Iterator[Problem]:
    if auth.app_role is not None:
        yield from _check_app_role(auth.app_role, scope)
    if auth.jwt is not None:
        yield from _check_jwt(auth.jwt, scope)
    if auth.iam is not None:
        yield from _check_iam(auth.iam, scope)
    cert, kubernetes, ldap, user = auth.cert, auth.kubernetes, auth.ldap, auth.user_pass
    selectors = (
        ("cert.clientCert", "Cert.ClientCert", cert.client_cert if cert else None),
        ("cert.secretRef", "Cert.SecretRef", cert.secret_ref if cert else None),
        (
            "kubernetes.serviceAccountRef",
            "Kubernetes.ServiceAccountRef",
            kubernetes.service_account_ref if kubernetes else None,
        ),
        ("kubernetes.secretRef", "Kubernetes.SecretRef", kubernetes.secret_ref if kubernetes else None),
        ("ldap.secretRef", "Ldap.SecretRef", ldap.secret_ref if ldap else None),
        ("userPass.secretRef", "UserPass.SecretRef", user.secret_ref if user else None),
        ("tokenSecretRef", "TokenSecretRef", auth.token_secret_ref),
    )
    yield from referents(selectors, scope, "auth", "invalid Auth")


def _check_app_role(role: VaultAppRole, scope: Scope) -> Iterator[Problem]:
    yield from referent(role.secret_ref, scope, "auth.appRole.secretRef", "invalid Auth.AppRole.SecretRef")
    if role.role_id:
        return
    yield from referent(role.role_ref, scope, "auth.appRole.roleRef", "invalid Auth.AppRole.RoleRef")
    if role.role_ref is None:
        yield Problem(
            path="auth.appRole",
            message="invalid Auth.AppRole: neither `roleId` nor `roleRef` was supplied",
            hint="write the role's ID as roleId, or name the Secret that holds it as roleRef",
        )


def _check_jwt(jwt: VaultJwt, scope: Scope) -> Iterator[Problem]:
    issued = jwt.kubernetes_service_account_token
    if jwt.secret_ref is not None:
        yield from referent(jwt.secret_ref, scope, "auth.jwt.secretRef", "invalid Auth.Jwt.SecretRef")
    elif issued is not None:
        yield from referent(
            issued.service_account_ref,
            scope,
            "auth.jwt.kubernetesServiceAccountToken.serviceAccountRef",
            "invalid Auth.Jwt.KubernetesServiceAccountToken.ServiceAccountRef",
        )
    else:
        yield Problem(
            path="auth.jwt",
            message=(
                "neither `secretRef` nor `kubernetesServiceAccountToken` was supplied"
                " as token source for jwt authentication"
            ),
            hint="name the Secret that holds the token, or the ServiceAccount it is issued for",
        )


def _check_iam(iam: VaultIam, scope: Scope) -> Iterator[Problem]:
    keys = iam.secret_ref
    selectors = (
        (
            "jwt.serviceAccountRef",
            "JWTAuth.ServiceAccountRef",
            iam.jwt.service_account_ref if iam.jwt else None,
        ),
        ("secretRef.accessKeyIDSecretRef", "SecretRef.AccessKeyID", keys.access_key_id if keys else None),
        (
            "secretRef.secretAccessKeySecretRef",
            "SecretRef.SecretAccessKey",
            keys.secret_access_key if keys else None,
        ),
        ("secretRef.sessionTokenSecretRef", "SecretRef.SessionToken", keys.session_token if keys else None),
    )
    yield from referents(selectors, scope, "auth.iam", "invalid Auth.Iam")


def _check_tls(tls: VaultTLS, scope: Scope) -> Iterator[Problem]:
    if (tls.cert_secret_ref is None) != (tls.key_secret_ref is None):
        yield Problem(
            path="tls",
            message="when provided, both ClientTLS.ClientCert and ClientTLS.SecretRef should be provided",
            hint="write certSecretRef and keySecretRef, or neither",
        )
        return
    yield from referent(tls.cert_secret_ref, scope, "tls.certSecretRef", "invalid ClientTLS.ClientCert")
    yield from referent(tls.key_secret_ref, scope, "tls.keySecretRef", "invalid ClientTLS.SecretRef")
