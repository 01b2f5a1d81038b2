"""The spec of a store that reads and writes Secrets of a Kubernetes cluster."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, Namespace, SecretKeySelector
from syncret.providers.kit.kube.spec import KubernetesAuth, KubernetesServer, check_connection


class KubernetesSpec(Model):
    """Reads and writes Secrets of one namespace.

    Example: {remoteNamespace: payments, auth: {serviceAccount: {name: reader}}}
    """

    server: KubernetesServer = KubernetesServer()
    """The API server, and who signed its certificate."""
    auth: KubernetesAuth | None = None
    """How the store authenticates to the API server; either this or `authRef`."""
    auth_ref: SecretKeySelector | None = None
    """A Secret that contains a kubeconfig, instead of `server` and `auth`; one that runs programs or names
    files is refused.
    Example: {name: cluster, key: kubeconfig}"""
    remote_namespace: Namespace = "default"
    """The namespace whose Secrets are read and written. Example: payments"""


def check(spec: KubernetesSpec, scope: Scope) -> Iterator[Problem]:
    """The connection is complete and in scope."""
    yield from check_connection(spec.server, spec.auth, spec.auth_ref, scope)
