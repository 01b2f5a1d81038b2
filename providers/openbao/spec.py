"""The spec of an OpenBao store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, Rule, SecretKeySelector, at_most_one, exactly_one
from syncret.providers.kit.spec_rules import referent


class OpenBaoAppRole(Model):
    """Login by AppRole; the role ID is here or in a Secret."""

    secret_ref: SecretKeySelector
    """The secret ID."""
    path: str = "approle"
    role_id: Annotated[str, Meta(min_length=1)] | None = None
    role_ref: SecretKeySelector | None = None

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("roleId", "roleRef"),)


class OpenBaoUserPass(Model):
    """Login by user name and password."""

    username: str
    path: str = "userpass"
    secret_ref: SecretKeySelector | None = None
    """The password."""


class OpenBaoAuth(Model):
    """How the store authenticates: exactly one method."""

    app_role: OpenBaoAppRole | None = None
    token_secret_ref: SecretKeySelector | None = None
    user_pass: OpenBaoUserPass | None = None
    namespace: str = ""
    """OpenBao's namespace of the login, if it differs from that of the secrets."""

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("appRole", "tokenSecretRef", "userPass"),)


class OpenBaoSpec(Model):
    """A store in a key-value engine of an OpenBao server."""

    server: str
    path: str = ""
    """The mount of the engine, such as `secret`."""
    version: Literal["v1", "v2"] = "v2"
    """The version of the key-value engine, not of the server."""
    namespace: str = ""
    """OpenBao's namespace, not one of Kubernetes."""
    auth: OpenBaoAuth | None = None
    ca_bundle: Base64 = ""
    ca_provider: CAProvider | None = None

    RULES: ClassVar[tuple[Rule, ...]] = (at_most_one("caBundle", "caProvider"),)


def check(spec: OpenBaoSpec, scope: Scope) -> Iterator[Problem]:
    """Every Secret that the login reads is in scope."""
    if spec.auth is None:
        return
    role, user = spec.auth.app_role, spec.auth.user_pass
    for path, context, selector in (
        ("auth.appRole.roleRef", "Auth.AppRole.RoleRef", role.role_ref if role else None),
        ("auth.appRole.secretRef", "Auth.AppRole.SecretRef", role.secret_ref if role else None),
        ("auth.tokenSecretRef", "Auth.TokenSecretRef", spec.auth.token_secret_ref),
        ("auth.userPass.secretRef", "Auth.UserPass.SecretRef", user.secret_ref if user else None),
    ):
        yield from referent(selector, scope, path, f"invalid {context}")
