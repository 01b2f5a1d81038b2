"""The spec of an OpenStack Barbican store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_parts import FromSecret
from syncret.providers.kit.spec_rules import filled, strict


class Username(Model):
    """The user's name: written here, or read from a Secret.

    Example: {value: shop}
    """

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    value: str | None = None
    """The name itself. Example: shop"""
    secret_ref: SecretKeySelector | None = None
    """The Secret that holds the name. Example: {name: barbican-login, key: username}"""


class BarbicanAuth(Model):
    """The OpenStack user that reads.

    Example: {username: {value: shop}, password: {secretRef: {name: barbican-login, key: password}}}
    """

    username: Username
    """The name of the user, or the Secret that holds it."""
    password: FromSecret
    """The password of the user. Example: {secretRef: {name: barbican-login, key: password}}"""


class BarbicanSpec(Model):
    """Reads secrets of one OpenStack project.

    Example: {authURL: 'https://keystone.example.com/v3', tenantName: shop, domainName: Default, auth:
    {username: {value: shop}, password: {secretRef: {name: barbican-login, key: password}}}}
    """

    auth: BarbicanAuth
    """How the store authenticates to OpenStack."""
    auth_url: str | None = msgspec.field(default=None, name="authURL")
    """The address of Keystone, which issues the token and has Barbican in its catalog; required.
    Example: https://keystone.example.com/v3"""
    tenant_name: str | None = None
    """Name of the project. Example: shop"""
    domain_name: str | None = None
    """Name of the domain of user and project. Example: Default"""
    region: str | None = None
    """Region of the catalog; absent: the first one. Example: RegionOne"""


def check(spec: BarbicanSpec, scope: Scope) -> Iterator[Problem]:
    """Keystone's address and a user name are set; selectors are in scope."""
    missing = "barbican provider missing required field"
    yield from filled(
        spec.auth_url, "authURL", f"{missing}: authURL is required", "write the address of Keystone"
    )
    username = spec.auth.username
    yield from filled(
        username.value or username.secret_ref,
        "auth.username",
        f"{missing}: auth.username requires either value or secretRef",
        "write a secretRef, or the name as value",
    )
    context = "barbican provider error"
    yield from strict(username.secret_ref, scope, "auth.username.secretRef", context)
    yield from strict(spec.auth.password.secret_ref, scope, "auth.password.secretRef", context)
