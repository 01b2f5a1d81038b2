"""The spec of a Google Cloud Secret Manager store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, Name, Namespace, SecretKey, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import referent

AwsRegion = Annotated[str, Meta(pattern="^[a-z0-9-]+$", min_length=1, max_length=50)]
GcpServiceAccountEmail = Annotated[str, Meta(pattern=r"^.*@.*\.iam\.gserviceaccount\.com$", min_length=1)]


class GcpSecretRef(Model):
    """A service account's key (JSON), from a Secret."""

    secret_access_key_secret_ref: SecretKeySelector = SecretKeySelector()


class GcpWorkloadIdentity(Model):
    """GKE's workload identity. Missing facts about the cluster come from Google's metadata server."""

    service_account_ref: ServiceAccountSelector
    cluster_location: str | None = None
    cluster_name: str | None = None
    cluster_project_id: str | None = msgspec.field(default=None, name="clusterProjectID")


class ConfigMapKeySelector(Model):
    """One key of one ConfigMap."""

    name: Name
    key: SecretKey
    namespace: Namespace | None = None


class SecretName(Model):
    """A whole Secret."""

    name: Name
    namespace: Namespace | None = None


class AwsSecurityCredentials(Model):
    """AWS credentials for federation, if AWS's metadata server is not used.

    The Secret's keys are `aws_access_key_id`, `aws_secret_access_key` and, for temporary credentials,
    `aws_session_token`.
    """

    aws_credentials_secret_ref: SecretName
    region: AwsRegion


class GcpWorkloadIdentityFederation(Model):
    """Exchanges a token of another identity provider for a Google token."""

    cred_config: ConfigMapKeySelector | None = None
    """The external account's credential configuration (JSON)."""
    service_account_ref: ServiceAccountSelector | None = None
    aws_security_credentials: AwsSecurityCredentials | None = None
    audience: str | None = None
    """The workload identity pool's provider; wins over the audience in `credConfig`."""
    external_token_endpoint: str | None = None
    """The token URL that `credConfig` must have: a guard against a manipulated configuration."""
    gcp_service_account_email: GcpServiceAccountEmail | None = None
    """The service account to impersonate."""


class GcpAuth(Model):
    """How the store authenticates; without any field, by application default credentials."""

    secret_ref: GcpSecretRef | None = None
    workload_identity: GcpWorkloadIdentity | None = None
    workload_identity_federation: GcpWorkloadIdentityFederation | None = None


class GcpSmSpec(Model):
    """Reads and writes secrets of one project."""

    auth: GcpAuth = GcpAuth()
    project_id: str | None = msgspec.field(default=None, name="projectID")
    location: str | None = None
    """Addresses regional secrets of this location instead of global ones."""
    secret_version_selection_policy: str = "LatestOrFail"
    """LatestOrFetch uses the newest enabled version if the latest is disabled or destroyed."""


def check(spec: GcpSmSpec, scope: Scope) -> Iterator[Problem]:
    """Selectors are in scope."""
    auth = spec.auth
    if auth.secret_ref:
        yield from referent(
            auth.secret_ref.secret_access_key_secret_ref,
            scope,
            "auth.secretRef.secretAccessKeySecretRef",
            "invalid auth secret data",
        )
    if auth.workload_identity:
        yield from referent(
            auth.workload_identity.service_account_ref,
            scope,
            "auth.workloadIdentity.serviceAccountRef",
            "invalid workload identity service account reference",
        )
