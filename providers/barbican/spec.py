"""The spec of an OpenStack Barbican store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import filled, strict


class Username(Model):
    """The user's name: written here, or read from a Secret."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    value: str | None = None
    secret_ref: SecretKeySelector | None = None


class Password(Model):
    """The user's password, from a Secret."""

    secret_ref: SecretKeySelector


class BarbicanAuth(Model):
    """The OpenStack user that reads."""

    username: Username
    password: Password


class BarbicanSpec(Model):
    """Reads secrets of one OpenStack project."""

    auth: BarbicanAuth
    auth_url: str | None = msgspec.field(default=None, name="authURL")
    """The address of Keystone, which issues the token and has Barbican in its catalog."""
    tenant_name: str | None = None
    domain_name: str | None = None
    region: str | None = None


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
