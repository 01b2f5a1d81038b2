"""The spec of an OpenBao store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, Rule, SecretKeySelector, at_most_one, exactly_one
from syncret.providers.kit.spec_rules import referents
from syncret.providers.kit.vault.spec import AppRole, KeyValueStore, UserPass


class OpenBaoAppRole(AppRole):
    """Login by AppRole; the role ID is here or in a Secret.

    Example: {roleId: app, secretRef: {name: bao-login, key: secret-id}}
    """

    role_id: Annotated[str, Meta(min_length=1)] | None = None
    """The role ID, which is no secret; either this or `roleRef`.
    Example: 1d7f4b2e-6a0c-4c59-8d0e-55f3a9f1c2aa"""
    role_ref: SecretKeySelector | None = None
    """The role ID, from a Secret. Example: {name: bao-login, key: role-id}"""

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("roleId", "roleRef"),)


class OpenBaoAuth(Model):
    """How the store authenticates: exactly one method.

    Example: {userPass: {username: app, secretRef: {name: bao-login, key: password}}}
    """

    app_role: OpenBaoAppRole | None = None
    """A role ID and a secret ID."""
    token_secret_ref: SecretKeySelector | None = None
    """A token; the store neither renews nor revokes it, so it works until it expires.
    Example: {name: bao-login, key: token}"""
    user_pass: UserPass | None = None
    """A user name and a password."""
    namespace: str = ""
    """OpenBao's namespace of the login, if it differs from that of the secrets. Example: team-a"""

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("appRole", "tokenSecretRef", "userPass"),)


class OpenBaoSpec(KeyValueStore[OpenBaoAuth]):
    """A store in a key-value engine of an OpenBao server.

    Example: {server: 'https://bao.example.com:8200', path: kv, auth: {userPass: {username: app, secretRef:
    {name: bao-login, key: password}}}}
    """

    path: str = ""
    """Mount of the engine; absent: `kv`. Keys never repeat it. Example: secret"""

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
