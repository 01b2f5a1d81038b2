"""The spec of an Oracle Cloud Infrastructure store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Literal

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit import spec_rules


class OracleSecretRef(Model):
    """The API signing key of a user (PEM), and its fingerprint.

    Example: {privatekey: {name: oracle-login, key: key.pem}, fingerprint: {name: oracle-login, key:
    fingerprint}}
    """

    privatekey: SecretKeySelector
    """The key, in PEM without a password. Example: {name: oracle-login, key: key.pem}"""
    fingerprint: SecretKeySelector
    """The key's fingerprint, as Oracle shows it. Example: {name: oracle-login, key: fingerprint}"""


class OracleAuth(Model):
    """The user who signs the requests.

    Example: {tenancy: ocid1.tenancy.oc1..aaaa, user: ocid1.user.oc1..aaaa, secretRef: {privatekey: {name:
    oracle-login, key: key.pem}, fingerprint: {name: oracle-login, key: fingerprint}}}
    """

    tenancy: str
    """OCID of the tenancy. Example: ocid1.tenancy.oc1..aaaa"""
    user: str
    """OCID of the user. Example: ocid1.user.oc1..aaaa"""
    secret_ref: OracleSecretRef
    """The key of the user."""


class OracleSpec(Model):
    """Reads and writes secrets of one vault. Tenancy, user, vault, compartment and key are OCIDs.

    Example: {region: eu-frankfurt-1, vault: ocid1.vault.oc1..aaaa, auth: {tenancy: ocid1.tenancy.oc1..aaaa,
    user: ocid1.user.oc1..aaaa, secretRef: {privatekey: {name: oracle-login, key: key.pem}, fingerprint:
    {name: oracle-login, key: fingerprint}}}}
    """

    region: str
    """The region of the vault. Example: eu-frankfurt-1"""
    vault: str
    """OCID of the vault. Example: ocid1.vault.oc1..aaaa"""
    compartment: str = ""
    """OCID of the secrets' compartment; needed to find, to push, and to detect that a secret was deleted.
    Example: ocid1.compartment.oc1..aaaa"""
    encryption_key: str = ""
    """OCID of the vault's key that encrypts what is pushed; needed to push.
    Example: ocid1.key.oc1..aaaa"""
    principal_type: Literal["", "UserPrincipal", "InstancePrincipal", "Workload"] = ""
    """Who signs the requests: the user of `auth`, the daemon's machine, or a workload of its OKE cluster.
    Example: InstancePrincipal"""
    auth: OracleAuth | None = None
    """The user who signs the requests, without another principal."""
    service_account_ref: ServiceAccountSelector | None = None
    """The account of a Workload principal; by default that of the daemon's pod. Example: {name: app}"""


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
