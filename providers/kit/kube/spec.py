"""The connection to a Kubernetes API server in a spec, shared by `kubernetes` and `crd`."""

from collections.abc import Iterator
from typing import ClassVar

from syncret.config.catalog import Scope
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import ca_namespace, complete, referent, strict


class KubernetesServer(Model):
    """The API server, and the CA of its certificate.

    Example: {url: 'https://cluster.example:6443', caProvider: {type: ConfigMap, name: cluster-ca, key:
    ca.crt}}
    """

    url: str = "kubernetes.default"
    """Address of the API server; without a scheme it is https. Example: https://cluster.example:6443"""
    ca_bundle: Base64 | None = None
    """Certificates that signed the server's, as base64 of PEM; absent, with no `caProvider`: the machine's
    own authorities.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """A Secret or ConfigMap with these certificates, instead of `caBundle`."""


class ClientCertificate(Model):
    """A client certificate and its key, each in a Secret.

    Example: {clientCert: {name: cluster-login, key: tls.crt}, clientKey: {name: cluster-login, key:
    tls.key}}
    """

    client_cert: SecretKeySelector
    """The certificate in PEM. Example: {name: cluster-login, key: tls.crt}"""
    client_key: SecretKeySelector
    """Its private key in PEM. Example: {name: cluster-login, key: tls.key}"""


class BearerToken(Model):
    """A static token in a Secret.

    Example: {bearerToken: {name: cluster-login, key: token}}
    """

    bearer_token: SecretKeySelector
    """The token; when it expires, the store is denied until the Secret has a new one.
    Example: {name: cluster-login, key: token}"""


class KubernetesAuth(Model):
    """How the store authenticates to that API server: exactly one of the three.

    Example: {serviceAccount: {name: reader}}
    """

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    cert: ClientCertificate | None = None
    """A client certificate."""
    service_account: ServiceAccountSelector | None = None
    """A ServiceAccount, for which a token is issued; the pod must be allowed to create it.
    Example: {name: reader}"""
    token: BearerToken | None = None
    """A token that is kept in a Secret."""


def check_connection(
    server: KubernetesServer,
    auth: KubernetesAuth | None,
    kubeconfig: SecretKeySelector | None,
    scope: Scope,
) -> Iterator[Problem]:
    """The rules of both providers for `server`, `auth` and `authRef` (which selects a kubeconfig)."""
    yield from _check_server(server, scope, has_kubeconfig=kubeconfig is not None)
    if auth is None:
        return
    if auth.cert:
        cert, path = auth.cert.client_cert, "auth.cert.clientCert"
        yield from complete(
            cert, path, no_name="ClientCert.Name cannot be empty", no_key="ClientCert.Key cannot be empty"
        )
        yield from strict(cert, scope, path)
    if auth.token:
        token, path = auth.token.bearer_token, "auth.token.bearerToken"
        yield from complete(
            token, path, no_name="BearerToken.Name cannot be empty", no_key="BearerToken.Key cannot be empty"
        )
        yield from strict(token, scope, path)
    yield from referent(auth.service_account, scope, "auth.serviceAccount")


def _check_server(server: KubernetesServer, scope: Scope, *, has_kubeconfig: bool) -> Iterator[Problem]:
    if not (has_kubeconfig or server.ca_bundle or server.ca_provider):
        yield Problem(
            path="server",
            message="No caBundle or caProvider specified; TLS connections will use system certificate roots.",
            hint="write server.caProvider, unless a public authority signed the API server's certificate",
            severity=Severity.WARNING,
        )
    yield from ca_namespace(
        server.ca_provider,
        scope,
        "server.caProvider",
        required="CAProvider.namespace must not be empty with ClusterSecretStore",
        forbidden="CAProvider.namespace must be empty with SecretStore",
    )
