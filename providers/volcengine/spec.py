"""The spec of a Volcengine store, and its rules beyond the schema."""

from collections.abc import Iterator

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit import spec_rules


class VolcengineSecretRef(Model):
    """Static credentials; with a token they are temporary ones.

    Example: {accessKeyID: {name: volcengine-login, key: id}, secretAccessKey: {name: volcengine-login, key:
    secret}}
    """

    access_key_id: SecretKeySelector = msgspec.field(name="accessKeyID")
    """ID of the access key. Example: {name: volcengine-login, key: id}"""
    secret_access_key: SecretKeySelector
    """The secret of the access key. Example: {name: volcengine-login, key: secret}"""
    token: SecretKeySelector | None = None
    """The session token of temporary credentials. Example: {name: volcengine-login, key: token}"""


class VolcengineAuth(Model):
    """How the store authenticates.

    Example: {secretRef: {accessKeyID: {name: volcengine-login, key: id}, secretAccessKey: {name:
    volcengine-login, key: secret}}}
    """

    secret_ref: VolcengineSecretRef | None = None
    """An access key that is kept in a Secret."""


class VolcengineSpec(Model):
    """Reads and writes secrets of one region of Volcengine.

    Example: {region: cn-beijing, auth: {secretRef: {accessKeyID: {name: volcengine-login, key: id},
    secretAccessKey: {name: volcengine-login, key: secret}}}}
    """

    region: str
    """The region. Example: cn-beijing"""
    auth: VolcengineAuth | None = None
    """Absent: the role of the daemon's own ServiceAccount (IRSA)."""


def check(spec: VolcengineSpec, scope: Scope) -> Iterator[Problem]:
    """The region is named; static credentials are complete and in scope."""
    yield from spec_rules.filled(
        spec.region, "region", "region is required", "write a region such as cn-beijing"
    )
    if spec.auth is None:
        return
    ref = spec.auth.secret_ref
    if ref is None:
        yield Problem(
            path="auth.secretRef",
            message="SecretRef is required when using static credentials",
            hint="write it, or remove auth to use the role of the ServiceAccount",
        )
        return
    for field, context, selector in (
        ("accessKeyID", "invalid AccessKeyID", ref.access_key_id),
        ("secretAccessKey", "invalid SecretAccessKey", ref.secret_access_key),
        ("token", "invalid Token", ref.token),
    ):
        yield from spec_rules.referent(selector, scope, f"auth.secretRef.{field}", context)
