"""The spec of a Delinea DevOps Secrets Vault store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import complete, filled, referent, value_or_ref


class DelineaCredential(Model):
    """One half of the client credentials: read from a Secret, or written here."""

    value: str | None = None
    secret_ref: SecretKeySelector | None = None


class DelineaSpec(Model):
    """Reads secrets of one tenant."""

    client_id: DelineaCredential
    client_secret: DelineaCredential
    tenant: str
    """The first part of the vault's host name."""
    tld: str | None = None
    """The last part of the vault's host name; `com` by default."""
    url_template: str | None = None
    """Go's `fmt` pattern of the address, for tenant, top-level domain, path and resource."""


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
