"""The spec of an Infisical store, and its rules beyond the schema."""

from collections.abc import Iterator

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Defaulted, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import ca_namespace, filled, referent


class UniversalAuth(Model):
    """A client ID and its secret."""

    client_id: SecretKeySelector
    client_secret: SecretKeySelector


class TokenAuth(Model):
    """A static access token."""

    access_token: SecretKeySelector


class AwsAuth(Model):
    """The AWS identity of the machine."""

    identity_id: SecretKeySelector


class AzureAuth(Model):
    """The Azure identity of the machine."""

    identity_id: SecretKeySelector
    resource: SecretKeySelector | None = None


class GcpIdTokenAuth(Model):
    """The Google identity of the machine."""

    identity_id: SecretKeySelector


class GcpIamAuth(Model):
    """A Google service account, by the path of its key file."""

    identity_id: SecretKeySelector
    service_account_key_file_path: SecretKeySelector


class JwtAuth(Model):
    """A JWT of another identity provider."""

    identity_id: SecretKeySelector
    jwt: SecretKeySelector


class KubernetesAuth(Model):
    """The token of the daemon's own ServiceAccount, or the file at a path."""

    identity_id: SecretKeySelector
    service_account_token_path: SecretKeySelector | None = None


class LdapAuth(Model):
    """A user of an LDAP directory."""

    identity_id: SecretKeySelector
    ldap_username: SecretKeySelector
    ldap_password: SecretKeySelector


class OciAuth(Model):
    """An API signing key of Oracle's cloud."""

    identity_id: SecretKeySelector
    user_id: SecretKeySelector
    tenancy_id: SecretKeySelector
    region: SecretKeySelector
    fingerprint: SecretKeySelector
    private_key: SecretKeySelector
    private_key_passphrase: SecretKeySelector | None = None


class InfisicalAuth(Model):
    """How the store authenticates: one of these. All parts, IDs and paths too, are read from Secrets."""

    universal_auth_credentials: UniversalAuth | None = None
    token_auth_credentials: TokenAuth | None = None
    aws_auth_credentials: AwsAuth | None = None
    azure_auth_credentials: AzureAuth | None = None
    gcp_id_token_auth_credentials: GcpIdTokenAuth | None = None
    gcp_iam_auth_credentials: GcpIamAuth | None = None
    jwt_auth_credentials: JwtAuth | None = None
    kubernetes_auth_credentials: KubernetesAuth | None = None
    ldap_auth_credentials: LdapAuth | None = None
    oci_auth_credentials: OciAuth | None = None


class SecretsScope(Model):
    """Project, environment and folder of the secrets."""

    project_slug: str
    environment_slug: str
    organization_slug: str | None = None
    """The sub-organization to log in to."""
    secrets_path: str = "/"
    recursive: Defaulted[bool] = False
    expand_secret_references: bool = True


class InfisicalSpec(Model):
    """Reads and writes secrets of one environment."""

    auth: InfisicalAuth
    secrets_scope: SecretsScope
    host_api: str = msgspec.field(default="https://app.infisical.com/api", name="hostAPI")
    ca_bundle: Base64 | None = None
    ca_provider: CAProvider | None = None


def check(spec: InfisicalSpec, scope: Scope) -> Iterator[Problem]:
    """Project and environment are named, the CA's namespace fits, universal credentials are complete."""
    yield from filled(
        spec.secrets_scope.environment_slug and spec.secrets_scope.project_slug,
        "secretsScope",
        "secretsScope.projectSlug and secretsScope.environmentSlug cannot be empty",
        "write both",
    )
    yield from ca_namespace(
        spec.ca_provider,
        scope,
        "caProvider",
        required="caProvider.namespace is required for ClusterSecretStore",
        forbidden="caProvider.namespace must be empty with SecretStore",
    )
    if universal := spec.auth.universal_auth_credentials:
        path = "auth.universalAuthCredentials"
        yield from referent(universal.client_id, scope, f"{path}.clientId")
        yield from referent(universal.client_secret, scope, f"{path}.clientSecret")
        yield from filled(
            universal.client_id.key and universal.client_secret.key,
            path,
            "universalAuthCredentials.clientId and universalAuthCredentials.clientSecret cannot be empty",
            "write the key of both",
        )
