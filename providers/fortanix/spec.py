"""The spec of a Fortanix store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model
from syncret.providers.kit.spec_parts import OptionalFromSecret
from syncret.providers.kit.spec_rules import complete, filled, referent


class FortanixSpec(Model):
    """Reads security objects that one app may export.

    Example: {apiKey: {secretRef: {name: fortanix-login, key: apiKey}}}
    """

    api_url: str | None = None
    """Address of the API; absent: https://sdkms.fortanix.com. Example: https://eu.smartkey.io"""
    api_key: OptionalFromSecret | None = None
    """The API key of an app, as Fortanix shows it; required.
    Example: {secretRef: {name: fortanix-login, key: apiKey}}"""


def check(spec: FortanixSpec, scope: Scope) -> Iterator[Problem]:
    """The API key's Secret is named and in scope."""
    yield from filled(spec.api_key, "apiKey", "apiKey is required", "write apiKey.secretRef")
    if spec.api_key is None:
        return
    ref, path = spec.api_key.secret_ref, "apiKey.secretRef"
    yield from filled(ref, path, f"{path} is required", "write the Secret that holds the API key")
    if ref is not None:
        yield from complete(ref, path, no_name=f"{path}.name is required", no_key=f"{path}.key is required")
        yield from referent(ref, scope, path)
