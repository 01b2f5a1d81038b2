"""The spec of a Scaleway store, and its rules beyond the schema."""

import re
from collections.abc import Iterator
from typing import Final

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit import spec_rules
from syncret.providers.kit.spec_rules import address

_REGION: Final = re.compile(r"[a-z]{2}-[a-z]{3}")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class ScalewaySecretRef(Model):
    """A value written here, or a reference to the Secret that holds it.

    Example: {secretRef: {name: scaleway-login, key: secret-key}}
    """

    value: str = ""
    """The value itself; a secret one is better kept in a Secret. Example: SCWXXXXXXXXXXXXXXXXX"""
    secret_ref: SecretKeySelector | None = None
    """The Secret key that holds it. Example: {name: scaleway-login, key: secret-key}"""


class ScalewaySpec(Model):
    """Reads and writes the secrets of one project in one region of Scaleway.

    Example: {region: fr-par, projectId: 6d2c9f1e-7c5b-4c0a-9f31-0f6f2b1f7a10, accessKey: {value:
    SCWXXXXXXXXXXXXXXXXX}, secretKey: {secretRef: {name: scaleway-login, key: secret-key}}}
    """

    access_key: ScalewaySecretRef
    """The ID of the API key, which is not secret; it is not sent."""
    secret_key: ScalewaySecretRef
    """The secret of the API key."""
    project_id: str
    """UUID of the project. Example: 6d2c9f1e-7c5b-4c0a-9f31-0f6f2b1f7a10"""
    region: str
    """The region, not a zone. Example: fr-par"""
    api_url: str = ""
    """Address of the API; absent: https://api.scaleway.com. Example: https://api.scaleway.com"""


def check(spec: ScalewaySpec, scope: Scope) -> Iterator[Problem]:
    """Address, region and project have the right form, and both halves of the key have one source."""
    if address(spec.api_url) is None:
        yield Problem(path="apiUrl", message="invalid api url", hint="remove it, or write an https address")
    if not _REGION.fullmatch(spec.region):
        yield Problem(
            path="region", message=f'invalid region: "{spec.region}"', hint="write one such as fr-par"
        )
    if not _UUID.fullmatch(spec.project_id):
        yield Problem(
            path="projectId",
            message=f'invalid project id: "{spec.project_id}"',
            hint="write the project's UUID",
        )
    for path, key in (("accessKey", spec.access_key), ("secretKey", spec.secret_key)):
        yield from spec_rules.value_or_ref(key.value, key.secret_ref, path)
        yield from spec_rules.referent(key.secret_ref, scope, f"{path}.secretRef")
