"""The spec of a store that reads and writes Secrets of a Kubernetes cluster."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, Namespace, SecretKeySelector
from syncret.providers.kit.kube.spec import KubernetesAuth, KubernetesServer, check_connection


class KubernetesSpec(Model):
    """Reads and writes Secrets of one namespace."""

    server: KubernetesServer = KubernetesServer()
    auth: KubernetesAuth | None = None
    auth_ref: SecretKeySelector | None = None
    """A Secret that contains a kubeconfig, instead of `server` and `auth`."""
    remote_namespace: Namespace = "default"


def check(spec: KubernetesSpec, scope: Scope) -> Iterator[Problem]:
    """The connection is complete and in scope."""
    yield from check_connection(spec.server, spec.auth, spec.auth_ref, scope)
