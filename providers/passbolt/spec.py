"""The spec of a Passbolt store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector
from syncret.providers.kit import spec_rules
from syncret.providers.kit.spec_rules import address


class PassboltAuth(Model):
    """The OpenPGP private key of an account, and its password.

    Example: {passwordSecretRef: {name: passbolt-login, key: passphrase}, privateKeySecretRef: {name:
    passbolt-login, key: key.asc}}
    """

    password_secret_ref: SecretKeySelector
    """The passphrase of the private key. Example: {name: passbolt-login, key: passphrase}"""
    private_key_secret_ref: SecretKeySelector
    """The account's private key, armored, as its recovery kit has it.
    Example: {name: passbolt-login, key: key.asc}"""


class PassboltSpec(Model):
    """Reads the resources that one account of a Passbolt server can open."""

    auth: PassboltAuth
    """How the store authenticates to Passbolt."""
    host: str
    """Address of the server, with https. Example: https://passbolt.example.com"""
    ca_bundle: Base64 = ""
    """The authorities that signed the server's certificate, as base64 of PEM; absent: the machine's.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """Where these authorities are kept, instead of in the store."""


def check(spec: PassboltSpec, _scope: Scope) -> Iterator[Problem]:
    """Key and password are named, and the server's address is https."""
    for field, selector in (
        ("passwordSecretRef", spec.auth.password_secret_ref),
        ("privateKeySecretRef", spec.auth.private_key_secret_ref),
    ):
        if not (selector.name and selector.key):
            yield Problem(
                path=f"auth.{field}",
                message=f"missing: spec.provider.passbolt.auth.{field}",
                hint="name the Secret and the key that hold the value",
            )
    if not spec.host:
        yield from spec_rules.filled(
            spec.host, "host", "missing: spec.provider.passbolt.host", "write the address of the server"
        )
        return
    host = address(spec.host)
    if host is None or host.scheme != "https":
        yield Problem(
            path="host",
            message="host Url has to be https scheme",
            hint="write an address such as https://passbolt.example.com",
        )
