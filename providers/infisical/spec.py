"""The spec of an Infisical store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Defaulted, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import ca_namespace, filled, referent


class UniversalAuth(Model):
    """A client ID and its secret.

    Example: {clientId: {name: infisical-login, key: id}, clientSecret: {name: infisical-login, key: secret}}
    """

    client_id: SecretKeySelector
    """The Secret key with the client ID. Example: {name: infisical-login, key: id}"""
    client_secret: SecretKeySelector
    """The Secret key with the client secret. Example: {name: infisical-login, key: secret}"""


class TokenAuth(Model):
    """A static access token.

    Example: {accessToken: {name: infisical-login, key: token}}
    """

    access_token: SecretKeySelector
    """The Secret key with the token. Example: {name: infisical-login, key: token}"""


class MachineIdentity(Model):
    """Who logs in.

    Example: {identityId: {name: infisical-login, key: identity}}
    """

    identity_id: SecretKeySelector
    """The Secret key with the ID of the machine identity. Example: {name: infisical-login, key: identity}"""


class AwsAuth(MachineIdentity):
    """The daemon's own role or keys at AWS, of its ServiceAccount, pod, task or machine.

    Example: {identityId: {name: infisical-login, key: identity}}
    """


class AzureAuth(MachineIdentity):
    """The managed identity of the daemon's machine at Azure, or the workload identity of its pod.

    Example: {identityId: {name: infisical-login, key: identity}}
    """

    resource: SecretKeySelector | None = None
    """The Secret key with the audience of the token; absent: https://management.azure.com/.
    Example: {name: infisical-login, key: resource}"""


class GcpIdTokenAuth(MachineIdentity):
    """The service account of the daemon's machine at Google, or in GKE that of its pod.

    Example: {identityId: {name: infisical-login, key: identity}}
    """


class GcpIamAuth(MachineIdentity):
    """A Google service account, by the path of its key file.

    Example: {identityId: {name: infisical-login, key: identity}, serviceAccountKeyFilePath: {name:
    infisical-login, key: path}}
    """

    service_account_key_file_path: SecretKeySelector
    """The Secret key with the path of the file, which must be below a folder of the setting `manifestFiles`.
    Example: {name: infisical-login, key: path}"""


class JwtAuth(MachineIdentity):
    """A JWT of another identity provider.

    Example: {identityId: {name: infisical-login, key: identity}, jwt: {name: infisical-login, key: jwt}}
    """

    jwt: SecretKeySelector
    """The Secret key with the JWT, read anew for each login. Example: {name: infisical-login, key: jwt}"""


class KubernetesAuth(MachineIdentity):
    """The token of the daemon's own ServiceAccount, or the file at a path.

    Example: {identityId: {name: infisical-login, key: identity}}
    """

    service_account_token_path: SecretKeySelector | None = None
    """The Secret key with the path of a file with a token; absent: the daemon's own.
    Example: {name: infisical-login, key: path}"""


class LdapAuth(MachineIdentity):
    """A user of an LDAP directory.

    Example: {identityId: {name: infisical-login, key: identity}, ldapUsername: {name: infisical-login, key:
    user}, ldapPassword: {name: infisical-login, key: password}}
    """

    ldap_username: SecretKeySelector
    """The Secret key with the user name. Example: {name: infisical-login, key: user}"""
    ldap_password: SecretKeySelector
    """The Secret key with the password. Example: {name: infisical-login, key: password}"""


class OciAuth(MachineIdentity):
    """An API signing key of a user of Oracle's cloud.

    Example: {identityId: {name: oci, key: identity}, userId: {name: oci, key: user}, tenancyId: {name: oci,
    key: tenancy}, region: {name: oci, key: region}, fingerprint: {name: oci, key: fingerprint}, privateKey:
    {name: oci, key: pem}}
    """

    user_id: SecretKeySelector
    """The Secret key with the OCID of the user. Example: {name: oci, key: user}"""
    tenancy_id: SecretKeySelector
    """The Secret key with the OCID of the tenancy. Example: {name: oci, key: tenancy}"""
    region: SecretKeySelector
    """The Secret key with the region. Example: {name: oci, key: region}"""
    fingerprint: SecretKeySelector
    """The Secret key with the fingerprint of the key. Example: {name: oci, key: fingerprint}"""
    private_key: SecretKeySelector
    """The Secret key with the private key. Example: {name: oci, key: pem}"""
    private_key_passphrase: SecretKeySelector | None = None
    """The Secret key with its passphrase. Example: {name: oci, key: passphrase}"""


Method: TypeAlias = (
    UniversalAuth
    | AzureAuth
    | GcpIdTokenAuth
    | GcpIamAuth
    | JwtAuth
    | LdapAuth
    | OciAuth
    | KubernetesAuth
    | AwsAuth
    | TokenAuth
)
"""How to log in."""


class InfisicalAuth(Model):
    """How the store authenticates: one of these. All parts, IDs and paths too, are read from Secrets.

    Example: {tokenAuthCredentials: {accessToken: {name: infisical-login, key: token}}}
    """

    universal_auth_credentials: UniversalAuth | None = None
    """A client ID and its secret."""
    token_auth_credentials: TokenAuth | None = None
    """A static access token."""
    aws_auth_credentials: AwsAuth | None = None
    """The daemon's identity at AWS."""
    azure_auth_credentials: AzureAuth | None = None
    """The daemon's identity at Azure."""
    gcp_id_token_auth_credentials: GcpIdTokenAuth | None = None
    """The daemon's identity at Google."""
    gcp_iam_auth_credentials: GcpIamAuth | None = None
    """The key file of a Google service account."""
    jwt_auth_credentials: JwtAuth | None = None
    """A JWT of another identity provider."""
    kubernetes_auth_credentials: KubernetesAuth | None = None
    """A ServiceAccount."""
    ldap_auth_credentials: LdapAuth | None = None
    """A user of a directory."""
    oci_auth_credentials: OciAuth | None = None
    """A signing key of Oracle's cloud."""

    def chosen(self) -> "Method | None":
        """The first method in the operator's order; None if there is none."""
        methods = (
            self.universal_auth_credentials,
            self.azure_auth_credentials,
            self.gcp_id_token_auth_credentials,
            self.gcp_iam_auth_credentials,
            self.jwt_auth_credentials,
            self.ldap_auth_credentials,
            self.oci_auth_credentials,
            self.kubernetes_auth_credentials,
            self.aws_auth_credentials,
            self.token_auth_credentials,
        )
        return next((method for method in methods if method is not None), None)


class SecretsScope(Model):
    """Project, environment and folder of the secrets.

    Example: {projectSlug: shop-x1, environmentSlug: prod, secretsPath: /web}
    """

    project_slug: str
    """Slug of the project. Example: shop-x1"""
    environment_slug: str
    """Slug of the environment. Example: prod"""
    organization_slug: str | None = None
    """The sub-organization to log in to. Example: acme-emea"""
    secrets_path: str = "/"
    """Folder of keys that name none, and of searches. Example: /web"""
    recursive: Defaulted[bool] = False
    """Whether searches look into the folders below, too."""
    expand_secret_references: bool = True
    """Whether references to other secrets are replaced by their values."""


class InfisicalSpec(Model):
    """Reads and writes secrets of one environment.

    Example: {auth: {tokenAuthCredentials: {accessToken: {name: infisical-login, key: token}}}, secretsScope:
    {projectSlug: shop-x1, environmentSlug: prod}}
    """

    auth: InfisicalAuth
    """How the store authenticates to Infisical."""
    secrets_scope: SecretsScope
    """Where its secrets are."""
    host_api: str = msgspec.field(default="https://app.infisical.com/api", name="hostAPI")
    """Address of the server, with or without /api. Example: https://infisical.example.com/api"""
    ca_bundle: Base64 | None = None
    """The authorities that signed the server's certificate: PEM, in base64.
    Example: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"""
    ca_provider: CAProvider | None = None
    """The Secret or ConfigMap key with these authorities."""


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
