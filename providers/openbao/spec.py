"""The spec of an OpenBao store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, Rule, SecretKeySelector, at_most_one, exactly_one
from syncret.providers.kit.spec_rules import referents


class OpenBaoAppRole(Model):
    """Login by AppRole; the role ID is here or in a Secret.

    Example: {roleId: app, secretRef: {name: bao-login, key: secret-id}}
    """

    secret_ref: SecretKeySelector
    """The secret ID. Example: {name: bao-login, key: secret-id}"""
    path: str = "approle"
    """Mount of the method. Example: approle-eu"""
    role_id: Annotated[str, Meta(min_length=1)] | None = None
    """The role ID, which is no secret; either this or `roleRef`.
    Example: 1d7f4b2e-6a0c-4c59-8d0e-55f3a9f1c2aa"""
    role_ref: SecretKeySelector | None = None
    """The role ID, from a Secret. Example: {name: bao-login, key: role-id}"""

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("roleId", "roleRef"),)


class OpenBaoUserPass(Model):
    """Login by user name and password.

    Example: {username: app, secretRef: {name: bao-login, key: password}}
    """

    username: str
    """Name of the user. Example: app"""
    path: str = "userpass"
    """Mount of the method. Example: userpass-eu"""
    secret_ref: SecretKeySelector | None = None
    """The password. Example: {name: bao-login, key: password}"""


class OpenBaoAuth(Model):
    """How the store authenticates: exactly one method.

    Example: {userPass: {username: app, secretRef: {name: bao-login, key: password}}}
    """

    app_role: OpenBaoAppRole | None = None
    """A role ID and a secret ID."""
    token_secret_ref: SecretKeySelector | None = None
    """A token; the store neither renews nor revokes it, so it works until it expires.
    Example: {name: bao-login, key: token}"""
    user_pass: OpenBaoUserPass | None = None
    """A user name and a password."""
    namespace: str = ""
    """OpenBao's namespace of the login, if it differs from that of the secrets. Example: team-a"""

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("appRole", "tokenSecretRef", "userPass"),)


class OpenBaoSpec(Model):
    """A store in a key-value engine of an OpenBao server.

    Example: {server: 'https://bao.example.com:8200', path: kv, auth: {userPass: {username: app, secretRef:
    {name: bao-login, key: password}}}}
    """

    server: str
    """Address of the server, with its port. Example: https://bao.example.com:8200"""
    path: str = ""
    """Mount of the engine; absent: `kv`. Keys never repeat it. Example: secret"""
    version: Literal["v1", "v2"] = "v2"
    """Version of the key-value engine, not of the server; the wrong one finds nothing. Example: v1"""
    namespace: str = ""
    """OpenBao's namespace, not one of Kubernetes. Example: team-a"""
    auth: OpenBaoAuth | None = None
    """How the store authenticates to OpenBao."""
    ca_bundle: Base64 = ""
    """Certificates that signed the server's, as base64 of PEM; absent, with no `caProvider`: the machine's
    own authorities.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """A Secret or ConfigMap with these certificates, instead of `caBundle`."""

    RULES: ClassVar[tuple[Rule, ...]] = (at_most_one("caBundle", "caProvider"),)


def check(spec: OpenBaoSpec, scope: Scope) -> Iterator[Problem]:
    """Every Secret that the login reads is in scope."""
    if spec.auth is None:
        return
    role, user = spec.auth.app_role, spec.auth.user_pass
    selectors = (
        ("appRole.roleRef", "AppRole.RoleRef", role.role_ref if role else None),
        ("appRole.secretRef", "AppRole.SecretRef", role.secret_ref if role else None),
        ("tokenSecretRef", "TokenSecretRef", spec.auth.token_secret_ref),
        ("userPass.secretRef", "UserPass.SecretRef", user.secret_ref if user else None),
    )
    yield from referents(selectors, scope, "auth", "invalid Auth")
