"""The spec of a Delinea DevOps Secrets Vault store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import complete, filled, referent, value_or_ref


class DelineaCredential(Model):
    """One half of the client credentials: read from a Secret, or written here.

    Example: {secretRef: {name: dsv-login, key: client-secret}}
    """

    value: str | None = None
    """The value itself; a secret one is better kept in a Secret. Example: 4c1d0f3a-example"""
    secret_ref: SecretKeySelector | None = None
    """The Secret key that holds it. Example: {name: dsv-login, key: client-secret}"""


class DelineaSpec(Model):
    """Reads secrets of one tenant of Delinea DevOps Secrets Vault.

    Example: {tenant: acme, clientId: {value: 4c1d0f3a-example}, clientSecret: {secretRef: {name: dsv-login,
    key: client-secret}}}
    """

    client_id: DelineaCredential
    """ID of the client credentials."""
    client_secret: DelineaCredential
    """Their secret."""
    tenant: str
    """The first part of the vault's host name. Example: acme"""
    tld: str | None = None
    """The last part of the vault's host name; absent: com. Example: eu"""
    url_template: str | None = None
    """Address with a `%s` each for tenant, last part, resource and path, in this order.
    Example: 'https://%s.dsv.example.%s/v1/%s%s'"""


def check(spec: DelineaSpec, scope: Scope) -> Iterator[Problem]:
    """The tenant is set; both credentials are complete and in scope."""
    yield from filled(spec.tenant, "tenant", "tenant must not be empty", "write the tenant's name")
    for path, credential in (("clientId", spec.client_id), ("clientSecret", spec.client_secret)):
        yield from value_or_ref(credential.value, credential.secret_ref, path)
        if ref := credential.secret_ref:
            yield from referent(ref, scope, f"{path}.secretRef")
            yield from complete(
                ref,
                f"{path}.secretRef",
                no_name="must specify a secret name",
                no_key="must specify a secret key",
            )
