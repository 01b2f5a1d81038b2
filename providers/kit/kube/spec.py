"""The connection to a Kubernetes API server in a spec, shared by `kubernetes` and `crd`."""

from collections.abc import Iterator
from typing import ClassVar

from syncret.config.catalog import Scope
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import ca_namespace, complete, referent, strict


class KubernetesServer(Model):
    """The API server, and the CA of its certificate."""

    url: str = "kubernetes.default"
    ca_bundle: Base64 | None = None
    ca_provider: CAProvider | None = None


class ClientCertificate(Model):
    """A client certificate and its key, each in a Secret."""

    client_cert: SecretKeySelector
    client_key: SecretKeySelector


class BearerToken(Model):
    """A static token in a Secret."""

    bearer_token: SecretKeySelector


class KubernetesAuth(Model):
    """How the store authenticates to that API server: exactly one of the three."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)

    cert: ClientCertificate | None = None
    service_account: ServiceAccountSelector | None = None
    token: BearerToken | None = None


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
