"""The specs of Vault's auth methods, one class each.

`path` is always the mount of the method. A selector's key is optional if the method has a default one.
"""

from typing import Any

import msgspec

from syncret.config.fields import Int64, Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.vault.spec import AppRole, UserPass


class VaultAppRole(AppRole):
    """Login by role ID and secret ID; the role ID is here or in a Secret.

    Example: {roleId: app, secretRef: {name: vault-login, key: secret-id}}
    """

    role_id: str = ""
    """The role ID, which is no secret; it wins over `roleRef`.
    Example: 1d7f4b2e-6a0c-4c59-8d0e-55f3a9f1c2aa"""
    role_ref: SecretKeySelector | None = None
    """The role ID, from a Secret. Example: {name: vault-login, key: role-id}"""


class VaultKubernetes(Model):
    """Login with a ServiceAccount's token: of the one named, or from a Secret, or the daemon's own.

    Example: {role: app, serviceAccountRef: {name: app}}
    """

    role: str
    """Role in Vault, which is bound to the ServiceAccount and its namespace. Example: app"""
    mount_path: str = "kubernetes"
    """Mount of the method. Example: kubernetes-eu"""
    service_account_ref: ServiceAccountSelector | None = None
    """The ServiceAccount that a token is issued for at each login. Example: {name: app}"""
    secret_ref: SecretKeySelector | None = None
    """A token that is kept in a Secret; without a key, `token` is read.
    Example: {name: app-token, key: token}"""


class VaultLdap(UserPass):
    """Login with user name and password of an LDAP directory.

    Example: {username: app, secretRef: {name: vault-login, key: password}}
    """

    path: str = "ldap"
    """Mount of the method. Example: ldap-eu"""


class VaultServiceAccountToken(Model):
    """A token that the API server issues for this login.

    Example: {serviceAccountRef: {name: app}}
    """

    service_account_ref: ServiceAccountSelector
    """The ServiceAccount that the token is issued for. Example: {name: app, audiences: [vault]}"""
    audiences: tuple[str, ...] | None = None
    """Deprecated in favour of those of `serviceAccountRef`; absent: `vault`. Example: [vault]"""
    expiration_seconds: Int64 | None = None
    """Deprecated: seconds that the token lasts; absent: ten minutes. Example: 600"""


class VaultJwt(Model):
    """Login with a JWT: from a Secret, or issued for a ServiceAccount. The Secret wins.

    Example: {role: app, kubernetesServiceAccountToken: {serviceAccountRef: {name: app}}}
    """

    path: str = "jwt"
    """Mount of the method. Example: oidc"""
    role: str = ""
    """Role in Vault; absent: the method's default role. Example: app"""
    secret_ref: SecretKeySelector | None = None
    """A JWT that is kept in a Secret; it works until it expires. Example: {name: app-token, key: jwt}"""
    kubernetes_service_account_token: VaultServiceAccountToken | None = None
    """A ServiceAccount that a JWT is issued for at each login."""


class VaultCert(Model):
    """Login with a TLS client certificate.

    Example: {clientCert: {name: vault-tls, key: tls.crt}, secretRef: {name: vault-tls, key: tls.key}}
    """

    path: str = "cert"
    """Mount of the method. Example: cert-eu"""
    vault_role: str = ""
    """Role in Vault; absent: the first one that accepts the certificate. Example: app"""
    client_cert: SecretKeySelector | None = None
    """The certificate in PEM. Example: {name: vault-tls, key: tls.crt}"""
    secret_ref: SecretKeySelector | None = None
    """The certificate's private key in PEM. Example: {name: vault-tls, key: tls.key}"""


class VaultIamSecretRef(Model):
    """Static AWS credentials; with a session token they are temporary ones.

    Example: {accessKeyIDSecretRef: {name: aws-login, key: key-id}, secretAccessKeySecretRef: {name:
    aws-login, key: secret-key}}
    """

    access_key_id: SecretKeySelector | None = msgspec.field(name="accessKeyIDSecretRef", default=None)
    """The access key's ID. Example: {name: aws-login, key: key-id}"""
    secret_access_key: SecretKeySelector | None = msgspec.field(name="secretAccessKeySecretRef", default=None)
    """The secret access key. Example: {name: aws-login, key: secret-key}"""
    session_token: SecretKeySelector | None = msgspec.field(name="sessionTokenSecretRef", default=None)
    """The session token, if the credentials are temporary. Example: {name: aws-login, key: session-token}"""


class VaultIamJwt(Model):
    """The AWS role that a ServiceAccount is annotated with (IRSA).

    Example: {serviceAccountRef: {name: app}}
    """

    service_account_ref: ServiceAccountSelector | None = None
    """The ServiceAccount, for which an API server issues the token. Example: {name: app}"""


class VaultIam(Model):
    """Login with a signed AWS request; without credentials here, those of the daemon's own pod.

    Example: {vaultRole: app, region: eu-west-1}
    """

    vault_role: str
    """The role in Vault; `role` is one in AWS. Example: app"""
    path: str = ""
    """Mount of the method; absent: `aws`. Example: aws-eu"""
    role: str = ""
    """ARN of a role in AWS that is assumed first. Example: arn:aws:iam::123456789012:role/vault"""
    region: str = ""
    """AWS region whose token service the request is signed for; absent: us-east-1. Vault must ask the same
    one.
    Example: eu-west-1"""
    external_id: str = msgspec.field(name="externalID", default="")
    """External ID that the trust policy of `role` demands. Example: shop-prod"""
    vault_aws_iam_server_id: str = msgspec.field(name="vaultAwsIamServerID", default="")
    """Value of the header X-Vault-AWS-IAM-Server-ID, if Vault requires it against replays.
    Example: vault.example.com"""
    secret_ref: VaultIamSecretRef | None = None
    """An AWS access key that is kept in Secrets."""
    jwt: VaultIamJwt | None = None
    """The AWS role of a ServiceAccount."""


class VaultGcpSecretRef(Model):
    """The key file of a Google service account (JSON).

    Example: {secretAccessKeySecretRef: {name: google-login, key: key.json}}
    """

    secret_access_key_secret_ref: SecretKeySelector | None = None
    """The key file as Google issued it. Example: {name: google-login, key: key.json}"""


class VaultGcpWorkloadIdentity(Model):
    """A ServiceAccount that Google trusts; what is not said here, the metadata server says.

    Example: {serviceAccountRef: {name: app}}
    """

    service_account_ref: ServiceAccountSelector
    """The ServiceAccount; its annotation names the Google account. Example: {name: app}"""
    cluster_location: str = ""
    """Location of the cluster. Example: europe-west3"""
    cluster_name: str = ""
    """Name of the cluster. Example: production"""
    cluster_project_id: str = msgspec.field(name="clusterProjectID", default="")
    """Project of the cluster. Example: acme-clusters"""


class VaultGcp(Model):
    """Login as a Google service account.

    Example: {role: app, secretRef: {secretAccessKeySecretRef: {name: google-login, key: key.json}}}
    """

    role: str
    """Role in Vault, which is bound to the service account. Example: app"""
    path: str = "gcp"
    """Mount of the method. Example: gcp-eu"""
    project_id: str = msgspec.field(name="projectID", default="")
    """Project of the cluster, where `workloadIdentity` does not name it. Example: acme"""
    location: str = ""
    """Accepted as by the operator; the cluster's location stands in `workloadIdentity`.
    Example: europe-west3"""
    secret_ref: VaultGcpSecretRef | None = None
    """A key file that is kept in a Secret."""
    workload_identity: VaultGcpWorkloadIdentity | None = None
    """A ServiceAccount of a GKE cluster."""
    service_account_ref: ServiceAccountSelector | None = None
    """Accepted as by the operator; name the account in `workloadIdentity`. Example: {name: app}"""


class VaultAuth(Model):
    """How to log in; of several methods the first in a fixed order is used, a token first of all.

    Example: {appRole: {roleId: app, secretRef: {name: vault-login, key: secret-id}}}
    """

    token_secret_ref: SecretKeySelector | None = None
    """A token; the store neither renews nor revokes it, so it works until it expires.
    Example: {name: vault-login, key: token}"""
    app_role: VaultAppRole | None = None
    """A role ID and a secret ID."""
    kubernetes: VaultKubernetes | None = None
    """The token of a ServiceAccount."""
    ldap: VaultLdap | None = None
    """User name and password of a directory."""
    user_pass: UserPass | None = None
    """User name and password of one of Vault's own users."""
    jwt: VaultJwt | None = None
    """A JWT, of an OIDC provider or of a ServiceAccount."""
    cert: VaultCert | None = None
    """A TLS client certificate."""
    iam: VaultIam | None = None
    """An identity in AWS."""
    gcp: VaultGcp | None = None
    """An identity in Google Cloud."""
    namespace: str = ""
    """Vault's namespace of the login, if it differs from that of the secrets. Example: team-a"""

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
