"""The specs of Vault's auth methods, one class each.

`path` is always the mount of the method. A selector's key is optional if the method has a default one.
"""

from typing import Any

import msgspec

from syncret.config.fields import Int64, Model, SecretKeySelector, ServiceAccountSelector


class VaultAppRole(Model):
    """Login by role ID and secret ID; the role ID is here or in a Secret."""

    secret_ref: SecretKeySelector
    path: str = "approle"
    role_id: str = ""
    """Wins over `role_ref`."""
    role_ref: SecretKeySelector | None = None


class VaultKubernetes(Model):
    """Login with a ServiceAccount's token: of the one named, or from a Secret, or the daemon's own."""

    role: str
    mount_path: str = "kubernetes"
    service_account_ref: ServiceAccountSelector | None = None
    secret_ref: SecretKeySelector | None = None


class VaultLdap(Model):
    """Login with user name and password of an LDAP directory."""

    username: str
    path: str = "ldap"
    secret_ref: SecretKeySelector | None = None
    """The password."""


class VaultUserPass(Model):
    """Login with user name and password of Vault's own users."""

    username: str
    path: str = "userpass"
    secret_ref: SecretKeySelector | None = None
    """The password."""


class VaultServiceAccountToken(Model):
    """A token that the API server issues for this login."""

    service_account_ref: ServiceAccountSelector
    audiences: tuple[str, ...] | None = None
    """Deprecated in favour of those of the ServiceAccount; absent: `vault`."""
    expiration_seconds: Int64 | None = None
    """Deprecated; absent: ten minutes."""


class VaultJwt(Model):
    """Login with a JWT: from a Secret, or issued for a ServiceAccount. The Secret wins."""

    path: str = "jwt"
    role: str = ""
    secret_ref: SecretKeySelector | None = None
    kubernetes_service_account_token: VaultServiceAccountToken | None = None


class VaultCert(Model):
    """Login with a TLS client certificate."""

    path: str = "cert"
    vault_role: str = ""
    client_cert: SecretKeySelector | None = None
    secret_ref: SecretKeySelector | None = None
    """The certificate's private key."""


class VaultIamSecretRef(Model):
    """Static AWS credentials; with a session token they are temporary ones."""

    access_key_id: SecretKeySelector | None = msgspec.field(name="accessKeyIDSecretRef", default=None)
    secret_access_key: SecretKeySelector | None = msgspec.field(name="secretAccessKeySecretRef", default=None)
    session_token: SecretKeySelector | None = msgspec.field(name="sessionTokenSecretRef", default=None)


class VaultIamJwt(Model):
    """The AWS role that a ServiceAccount is annotated with (IRSA)."""

    service_account_ref: ServiceAccountSelector | None = None


class VaultIam(Model):
    """Login with a signed AWS request; without credentials here, those of the daemon's own pod."""

    vault_role: str
    """The role in Vault; `role` is one in AWS that is assumed first."""
    path: str = ""
    """Absent: `aws`."""
    role: str = ""
    region: str = ""
    external_id: str = msgspec.field(name="externalID", default="")
    vault_aws_iam_server_id: str = msgspec.field(name="vaultAwsIamServerID", default="")
    """The value of the header X-Vault-AWS-IAM-Server-ID, if Vault requires it against replays."""
    secret_ref: VaultIamSecretRef | None = None
    jwt: VaultIamJwt | None = None


class VaultGcpSecretRef(Model):
    """The key file of a Google service account (JSON)."""

    secret_access_key_secret_ref: SecretKeySelector | None = None


class VaultGcpWorkloadIdentity(Model):
    """A Kubernetes ServiceAccount that Google trusts; absent fields come from the metadata server."""

    service_account_ref: ServiceAccountSelector
    cluster_location: str = ""
    cluster_name: str = ""
    cluster_project_id: str = msgspec.field(name="clusterProjectID", default="")


class VaultGcp(Model):
    """Login as a Google service account."""

    role: str
    path: str = "gcp"
    project_id: str = msgspec.field(name="projectID", default="")
    location: str = ""
    secret_ref: VaultGcpSecretRef | None = None
    workload_identity: VaultGcpWorkloadIdentity | None = None
    service_account_ref: ServiceAccountSelector | None = None


class VaultAuth(Model):
    """How to log in; of several methods the first in a fixed order is used, a token first of all."""

    token_secret_ref: SecretKeySelector | None = None
    app_role: VaultAppRole | None = None
    kubernetes: VaultKubernetes | None = None
    ldap: VaultLdap | None = None
    user_pass: VaultUserPass | None = None
    jwt: VaultJwt | None = None
    cert: VaultCert | None = None
    iam: VaultIam | None = None
    gcp: VaultGcp | None = None
    namespace: str = ""
    """Vault's namespace of the login, if it differs from that of the secrets."""

    def chosen(self) -> tuple[str, Any]:
        """Name and spec of the method that is used; an empty name if there is none."""
        methods = {
            "token": self.token_secret_ref,
            "appRole": self.app_role,
            "kubernetes": self.kubernetes,
            "ldap": self.ldap,
            "userPass": self.user_pass,
            "jwt": self.jwt,
            "cert": self.cert,
            "iam": self.iam,
            "gcp": self.gcp,
        }
        return next(((name, spec) for name, spec in methods.items() if spec is not None), ("", None))
