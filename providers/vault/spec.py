"""The spec of a HashiCorp Vault store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Literal

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import referent
from syncret.providers.vault.auth_spec import VaultAppRole, VaultAuth, VaultIam, VaultJwt


class VaultTLS(Model):
    """A client certificate for servers that demand one; keys default to `tls.crt` and `tls.key`."""

    cert_secret_ref: SecretKeySelector | None = None
    key_secret_ref: SecretKeySelector | None = None


class VaultCheckAndSet(Model):
    """Whether a push uses check-and-set, so that a concurrent write is refused, not lost."""

    required: bool | None = None


class VaultSpec(Model):
    """A store in a key-value engine of a Vault server."""

    server: str
    path: str = ""
    """The mount of the engine, such as `secret`; absent: every remote key begins with it."""
    version: Literal["v1", "v2"] = "v2"
    """The version of the key-value engine, not of the server."""
    namespace: str = ""
    """Vault's namespace (Enterprise), not one of Kubernetes."""
    auth: VaultAuth | None = None
    ca_bundle: Base64 = ""
    ca_provider: CAProvider | None = None
    tls: VaultTLS | None = None
    headers: dict[str, str] = {}
    read_your_writes: bool | None = None
    forward_inconsistent: bool | None = None
    """Lets a lagging standby forward reads to the leader; Vault must be configured to allow it."""
    check_and_set: VaultCheckAndSet | None = None


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
    for path, context, selector in (
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
    ):
        yield from referent(selector, scope, f"auth.{path}", f"invalid Auth.{context}")


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
    for path, context, selector in (
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
    ):
        yield from referent(selector, scope, f"auth.iam.{path}", f"invalid Auth.Iam.{context}")


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
