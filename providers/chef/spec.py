"""The spec of a Chef store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import address, filled, strict


class ChefSecretRef(Model):
    """The private key that requests are signed with, from a Secret.

    Example: {privateKeySecretRef: {name: chef-login, key: key.pem}}
    """

    private_key_secret_ref: SecretKeySelector
    """The RSA key of the user or client, as PEM. Example: {name: chef-login, key: key.pem}"""


class ChefAuth(Model):
    """How the user authenticates.

    Example: {secretRef: {privateKeySecretRef: {name: chef-login, key: key.pem}}}
    """

    secret_ref: ChefSecretRef
    """A key that is kept in a Secret."""


class ChefSpec(Model):
    """Reads and writes items of data bags as one user.

    Example: {username: shop, serverUrl: 'https://chef.example.com/organizations/acme/', auth: {secretRef:
    {privateKeySecretRef: {name: chef-login, key: key.pem}}}}
    """

    auth: ChefAuth
    """How the store authenticates to Chef."""
    server_url: str
    """Address of the server with the organization, ending in a slash.
    Example: https://chef.example.com/organizations/acme/"""
    username: str
    """Name of the user or client whose key signs. Example: shop"""


def check(spec: ChefSpec, scope: Scope) -> Iterator[Problem]:
    """User, address and key are set; the key's Secret is in scope."""
    prefix = "received invalid Chef SecretStore resource"
    yield from filled(spec.username, "username", f"{prefix}: missing username", "write the Chef user's name")
    hint = "write it as https://chef.example.com/organizations/acme/"
    server = address(spec.server_url)
    if not spec.server_url:
        yield Problem(path="serverUrl", message=f"{prefix}: missing serverurl", hint=hint)
    elif not spec.server_url.endswith("/"):
        message = f"{prefix}: serverurl does not end with slash(/)"
        yield Problem(path="serverUrl", message=message, hint=hint)
    elif server is None or not (server.scheme or spec.server_url.startswith("/")):
        yield Problem(path="serverUrl", message=f"{prefix}: invalid serverurl", hint=hint)
    key = spec.auth.secret_ref.private_key_secret_ref
    path = "auth.secretRef.privateKeySecretRef"
    yield from filled(
        key.key, f"{path}.key", f"{prefix}: missing Secret Key", "write under which key of the Secret it is"
    )
    yield from strict(key, scope, path, prefix)
