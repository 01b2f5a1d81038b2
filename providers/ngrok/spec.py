"""The spec of an ngrok store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model
from syncret.providers.kit import spec_rules
from syncret.providers.kit.spec_parts import OptionalFromSecret
from syncret.providers.kit.spec_rules import address


class NgrokAuth(Model):
    """How to log in; an API key is the only method.

    Example: {apiKey: {secretRef: {name: ngrok-login, key: apiKey}}}
    """

    api_key: OptionalFromSecret | None = None
    """A key that is kept in a Secret. Example: {secretRef: {name: ngrok-login, key: apiKey}}"""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)


class NgrokVault(Model):
    """The vault that is written to.

    Example: {name: shop}
    """

    name: str
    """Name of a vault that exists. Example: shop"""


class NgrokSpec(Model):
    """Writes secrets of one vault; ngrok does not let them be read.

    Example: {vault: {name: shop}, auth: {apiKey: {secretRef: {name: ngrok-login, key: apiKey}}}}
    """

    auth: NgrokAuth
    """How the store authenticates to ngrok."""
    vault: NgrokVault
    """Where secrets are written to."""
    api_url: str = "https://api.ngrok.com"
    """Address of the API. Example: https://ngrok.example.com"""


def check(spec: NgrokSpec, _scope: Scope) -> Iterator[Problem]:
    """The API's address is a URL, and the vault has a name."""
    if address(spec.api_url) is None:
        yield Problem(
            path="apiUrl", message="invalid API URL", hint="write an address such as https://api.ngrok.com"
        )
    yield from spec_rules.filled(
        spec.vault.name, "vault.name", "ngrok provider vault name is required", "name an existing vault"
    )
