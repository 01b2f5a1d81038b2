"""The spec of a Google Cloud Secret Manager store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, Name, Namespace, SecretKey, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import referent

AwsRegion = Annotated[str, Meta(pattern="^[a-z0-9-]+$", min_length=1, max_length=50)]
GcpServiceAccountEmail = Annotated[str, Meta(pattern=r"^.*@.*\.iam\.gserviceaccount\.com$", min_length=1)]


class GcpSecretRef(Model):
    """A service account's key (JSON), from a Secret.

    Example: {secretAccessKeySecretRef: {name: google-login, key: key.json}}
    """

    secret_access_key_secret_ref: SecretKeySelector = SecretKeySelector()
    """The key file as Google issued it; it works until the key is deleted there.
    Example: {name: google-login, key: key.json}"""


class GkeWorkloadIdentity(Model):
    """GKE's workload identity; the cluster must be named.

    Example: {serviceAccountRef: {name: app}, clusterLocation: europe-west3, clusterName: production}
    """

    service_account_ref: ServiceAccountSelector
    """The ServiceAccount; with the annotation `iam.gke.io/gcp-service-account` it acts as that account.
    Example: {name: app}"""
    cluster_location: str
    """Location of the cluster. Example: europe-west3"""
    cluster_name: str
    """Name of the cluster. Example: production"""
    cluster_project_id: str = msgspec.field(default="", name="clusterProjectID")
    """Project of the cluster, if it differs from `projectID`. Example: acme-clusters"""


class GcpWorkloadIdentity(GkeWorkloadIdentity):
    """GKE's workload identity; what is not said of the cluster, Google's metadata server says.

    Example: {serviceAccountRef: {name: app}}
    """

    cluster_location: str = ""
    """Location of the cluster. Example: europe-west3"""
    cluster_name: str = ""
    """Name of the cluster. Example: production"""


class ConfigMapKeySelector(Model):
    """One key of one ConfigMap.

    Example: {name: federation, key: config.json}
    """

    name: Name
    """Name of the ConfigMap. Example: federation"""
    key: SecretKey
    """Key whose value is used. Example: config.json"""
    namespace: Namespace | None = None
    """Namespace of the ConfigMap, in a cluster-scoped store; a namespaced store reads in its own namespace
    only.
    Example: apps"""


class SecretName(Model):
    """A whole Secret.

    Example: {name: aws-login}
    """

    name: Name
    """Name of the Secret. Example: aws-login"""
    namespace: Namespace | None = None
    """Namespace of the Secret, in a cluster-scoped store; a namespaced store reads in its own namespace only.
    Example: apps"""


class AwsSecurityCredentials(Model):
    """AWS credentials for federation, if AWS's metadata server is not used.

    The Secret's keys are `aws_access_key_id`, `aws_secret_access_key` and, for temporary credentials,
    `aws_session_token`.

    Example: {region: eu-west-1, awsCredentialsSecretRef: {name: aws-login}}
    """

    aws_credentials_secret_ref: SecretName
    """Secret with the keys `aws_access_key_id`, `aws_secret_access_key` and, for temporary credentials,
    `aws_session_token`.
    Example: {name: aws-login}"""
    region: AwsRegion
    """AWS region whose token service proves the identity. Example: eu-west-1"""


class GcpWorkloadIdentityFederation(Model):
    """Exchanges a token of another identity provider for a Google token: exactly one of three sources.

    Example: {audience:
    //iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/pool/providers/cluster,
    serviceAccountRef: {name: app, audiences: [pool]}}
    """

    cred_config: ConfigMapKeySelector | None = None
    """An external account's credential configuration (JSON), as gcloud writes it; a file that it names must
    be below a folder of the setting `manifestFiles`.
    Example: {name: federation, key: config.json}"""
    service_account_ref: ServiceAccountSelector | None = None
    """A ServiceAccount, whose token is exchanged; its audience must be one that the pool accepts.
    Example: {name: app, audiences: [pool]}"""
    aws_security_credentials: AwsSecurityCredentials | None = None
    """AWS credentials, which are exchanged."""
    audience: str | None = None
    """The pool's provider by its full name; it wins over the audience in `credConfig`.
    Example:
    //iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/pool/providers/cluster"""
    external_token_endpoint: str | None = None
    """The token URL that `credConfig` must have: a guard against a manipulated configuration.
    Example: https://login.example.com/token"""
    gcp_service_account_email: GcpServiceAccountEmail | None = None
    """The service account to act as; the identity needs the right to impersonate it.
    Example: reader@acme.iam.gserviceaccount.com"""


W_co = TypeVar("W_co", bound=GkeWorkloadIdentity, covariant=True)


class GoogleAuth(Model, Generic[W_co]):
    """The ways to log in to Google; a spec may demand more of a workload identity than another."""

    secret_ref: GcpSecretRef | None = None
    """The key file of a service account; needs `projectID`."""
    workload_identity: W_co | None = None
    """A ServiceAccount of a GKE cluster."""
    workload_identity_federation: GcpWorkloadIdentityFederation | None = None
    """An identity of another provider that a workload identity pool accepts."""


class GcpAuth(GoogleAuth[GcpWorkloadIdentity]):
    """How the store authenticates: the first of these; without any, by application default credentials.

    Example: {secretRef: {secretAccessKeySecretRef: {name: google-login, key: key.json}}}
    """


class GcpSmSpec(Model):
    """Reads and writes secrets of one project.

    Example: {projectID: acme}
    """

    auth: GcpAuth = GcpAuth()
    """How the store authenticates to Google."""
    project_id: str | None = msgspec.field(default=None, name="projectID")
    """Project whose secrets are read; absent: that of the cluster, where it is known. Example: acme"""
    location: str | None = None
    """Region whose secrets are read instead of the global ones, by the API of that region.
    Example: europe-west3"""
    secret_version_selection_policy: str = "LatestOrFail"
    """LatestOrFail fails if the latest version is disabled or destroyed; LatestOrFetch uses the newest
    enabled one.
    Example: LatestOrFetch"""


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
