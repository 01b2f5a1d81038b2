"""The spec of a Delinea Secret Server store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, Rule, SecretKeySelector, either
from syncret.config.meta import Document
from syncret.providers.kit import spec_rules


class SecretServerRef(Model):
    """A value written here, or a reference to the Secret that holds it.

    Example: {secretRef: {name: secretserver-login, key: password}}
    """

    value: Annotated[str, Meta(min_length=1)] | None = None
    """The value itself. Example: shop"""
    secret_ref: SecretKeySelector | None = None
    """The Secret that holds it. Example: {name: secretserver-login, key: password}"""

    RULES: ClassVar[tuple[Rule, ...]] = (either("value", "secretRef"),)


def _has_login(spec: Document) -> bool:
    return "token" in spec or ("username" in spec and "password" in spec)


class SecretServerSpec(Model):
    """Reads and writes secrets of a Secret Server, or of the Delinea Platform.

    Example: {serverURL: 'https://shop.secretservercloud.com', username: {value: shop}, password: {secretRef:
    {name: secretserver-login, key: password}}}
    """

    server_url: str = msgspec.field(name="serverURL")
    """Address of Secret Server, or of the platform. Example: https://shop.secretservercloud.com"""
    domain: str = ""
    """The user's domain in Active Directory. Example: corp"""
    username: SecretServerRef | None = None
    """Name of the user; on the platform, ID of the client."""
    password: SecretServerRef | None = None
    """Its password; on the platform, secret of the client."""
    token: SecretServerRef | None = None
    """A token of Secret Server; user name and password are then ignored."""
    ca_bundle: Base64 = ""
    """The authorities that signed the server's certificate, as base64 of PEM; absent: the machine's.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """Where these authorities are kept, instead of in the store."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "either token, or both username and password, must be set",
            "has(self.token) || (has(self.username) && has(self.password))",
            _has_login,
        ),
    )


def check(spec: SecretServerSpec, scope: Scope) -> Iterator[Problem]:
    """The server has an address, and the Secrets that the login reads are named and in scope."""
    yield from spec_rules.filled(
        spec.server_url, "serverURL", "serverURL must be set", "write the address of the installation"
    )
    used = (
        (("token", spec.token),) if spec.token else (("username", spec.username), ("password", spec.password))
    )
    for path, credential in used:
        if credential is None or credential.secret_ref is None:
            continue
        yield from spec_rules.referent(credential.secret_ref, scope, f"{path}.secretRef")
        yield from spec_rules.complete(
            credential.secret_ref,
            f"{path}.secretRef",
            no_name="must specify a secret name",
            no_key="must specify a secret key",
        )
