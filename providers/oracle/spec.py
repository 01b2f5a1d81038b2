"""The spec of an Oracle Cloud Infrastructure store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Literal

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit import spec_rules


class OracleSecretRef(Model):
    """The API signing key of a user (PEM), and its fingerprint."""

    privatekey: SecretKeySelector
    fingerprint: SecretKeySelector


class OracleAuth(Model):
    """The user who signs the requests."""

    tenancy: str
    user: str
    secret_ref: OracleSecretRef


class OracleSpec(Model):
    """A store in one vault. Tenancy, user, vault, compartment and key are OCIDs."""

    region: str
    vault: str
    compartment: str = ""
    """Needed to find by name and to push."""
    encryption_key: str = ""
    """The key of the vault that encrypts what is pushed; needed to push."""
    principal_type: Literal["", "UserPrincipal", "InstancePrincipal", "Workload"] = ""
    """How the store authenticates. Empty: the user if `auth` is set, otherwise the instance."""
    auth: OracleAuth | None = None
    service_account_ref: ServiceAccountSelector | None = None
    """The account of a Workload principal; absent: that of the daemon's own pod."""


def check(spec: OracleSpec, scope: Scope) -> Iterator[Problem]:
    """Nothing that a request needs is empty, and every Secret is in scope."""
    yield from spec_rules.filled(spec.vault, "vault", "vault cannot be empty", "write the OCID of the vault")
    yield from spec_rules.filled(
        spec.region, "region", "region cannot be empty", "write a region such as eu-frankfurt-1"
    )
    if spec.auth is None:
        return
    yield from spec_rules.filled(
        spec.auth.user, "auth.user", "user cannot be empty", "write the OCID of the user"
    )
    yield from spec_rules.filled(
        spec.auth.tenancy, "auth.tenancy", "tenant cannot be empty", "write the OCID of the tenancy"
    )
    for field, name, selector in (
        ("privatekey", "privateKey", spec.auth.secret_ref.privatekey),
        ("fingerprint", "fingerprint", spec.auth.secret_ref.fingerprint),
    ):
        path = f"auth.secretRef.{field}"
        yield from spec_rules.complete(
            selector, path, no_name=f"{name}.name cannot be empty", no_key=f"{name}.key cannot be empty"
        )
        yield from spec_rules.strict(selector, scope, path)
    yield from spec_rules.referent(
        spec.service_account_ref, scope, "serviceAccountRef", "invalid ServiceAccountRef"
    )
