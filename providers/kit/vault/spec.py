"""The specs that Vault and its fork OpenBao share: a key-value engine of a server, and logins."""

from typing import Generic, Literal, TypeVar

from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector

A = TypeVar("A", bound=Model)


class AppRole(Model):
    """Login by role ID and secret ID; where the role ID is, each provider says."""

    secret_ref: SecretKeySelector
    """The secret ID. Example: {name: app-login, key: secret-id}"""
    path: str = "approle"
    """Mount of the method. Example: approle-eu"""


class UserPass(Model):
    """Login with user name and password of the server's own users.

    Example: {username: app, secretRef: {name: app-login, key: password}}
    """

    username: str
    """Name of the user. Example: app"""
    path: str = "userpass"
    """Mount of the method. Example: userpass-eu"""
    secret_ref: SecretKeySelector | None = None
    """The password. Example: {name: app-login, key: password}"""


class KeyValueStore(Model, Generic[A]):
    """A store in a key-value engine of a server, with the provider's own `auth`."""

    server: str
    """Address of the server, with its port; the login is sent there.
    Example: https://secrets.example.com:8200"""
    path: str = ""
    """Mount of the engine; absent: every remote key begins with it. Example: secret"""
    version: Literal["v1", "v2"] = "v2"
    """Version of the key-value engine, not of the server; the wrong one finds nothing. Example: v1"""
    namespace: str = ""
    """Namespace in Vault Enterprise or OpenBao, not one of Kubernetes. Example: team-a"""
    auth: A | None = None
    """How the store authenticates to the server."""
    ca_bundle: Base64 = ""
    """Certificates that signed the server's, as base64 of PEM; absent, with no `caProvider`: the machine's
    own authorities.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """A Secret or ConfigMap with these certificates, instead of `caBundle`."""
