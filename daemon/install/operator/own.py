"""The operator's own objects: its account, what it may do, and its Deployment."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from syncret.config.catalog import Catalog
from syncret.config.meta import Document
from syncret.config.resources.base import OPERATOR_GROUP
from syncret.daemon.install.crds import crd_names
from syncret.daemon.install.operator.choices import Environment
from syncret.daemon.install.operator.components import NAME, OPERATOR

_RBAC: Final = "rbac.authorization.k8s.io"
_LABELS: Final = {"app.kubernetes.io/name": OPERATOR, "app.kubernetes.io/instance": OPERATOR}
"""Different from the labels of what it installs, so that its own objects are not taken for those."""

_READ: Final = ("get", "list", "watch")
_ROLES: Final = (
    OPERATOR,
    *(f"{NAME}-controller", f"{NAME}-leaderelection", f"{NAME}-cert-controller"),
)
_CLUSTER_ROLES: Final = (
    *(f"{NAME}-controller", f"{NAME}-edit", f"{NAME}-view", f"{NAME}-servicebindings"),
    f"{NAME}-cert-controller",
)
_WEBHOOKS: Final = ("externalsecret-validate", "secretstore-validate")


def own(environment: Environment, catalog: Catalog) -> Sequence[Document]:
    """The objects, in the order in which they are needed; the CRDs are others."""
    namespace = environment.namespace
    return (
        _object("v1", "Namespace", namespace),
        _object("v1", "ServiceAccount", OPERATOR, namespace),
        _object(f"{_RBAC}/v1", "ClusterRole", OPERATOR, rules=[*rules(catalog)]),
        _binding("ClusterRole", environment, ""),
        _object(f"{_RBAC}/v1", "Role", OPERATOR, namespace, rules=[*rules_in_own_namespace()]),
        _binding("Role", environment, namespace),
        _object("apps/v1", "Deployment", OPERATOR, namespace, spec=deployment_spec(environment)),
    )


def rules(catalog: Catalog) -> Sequence[Document]:
    """What the operator may do everywhere. Where it installs, it gives itself a Role."""
    return tuple(_rules(catalog))


def rules_in_own_namespace() -> Sequence[Document]:
    """What it may do where it runs."""
    return (_LEASES,)


def _object(api_version: str, kind: str, name: str, namespace: str = "", **members: Any) -> Document:  # noqa: ANN401  # JSON
    metadata: Document = {"name": name, "labels": dict(_LABELS)}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **members}


def _binding(kind: str, environment: Environment, namespace: str) -> Document:
    subject = {"kind": "ServiceAccount", "name": OPERATOR, "namespace": environment.namespace}
    role = {"apiGroup": _RBAC, "kind": kind, "name": OPERATOR}
    return _object(f"{_RBAC}/v1", f"{kind}Binding", OPERATOR, namespace, roleRef=role, subjects=[subject])


_LEASES: Final[Document] = {
    "apiGroups": ["coordination.k8s.io"],
    "resources": ["leases"],
    "verbs": ["get", "create", "update"],
}


def _rule(group: str, resources: Sequence[str], *verbs: str, names: Sequence[str] = ()) -> Document:
    rule: Document = {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}
    if names:
        rule["resourceNames"] = [*names]
    return rule


def _rules(catalog: Catalog) -> Iterator[Document]:
    kinds = ("externalsecretsconfigs", "externalsecretsmanagers")
    yield _rule(OPERATOR_GROUP, kinds, *_READ, "patch")
    yield _rule(OPERATOR_GROUP, [f"{each}/status" for each in kinds], "patch")
    yield _rule(OPERATOR_GROUP, ["externalsecretsmanagers"], "create")
    yield _rule("", ["namespaces"], *_READ, "create", "patch")
    yield _rule("", ["events"], "create", "patch")
    crds = ["customresourcedefinitions"]
    yield _rule("apiextensions.k8s.io", crds, "list", "watch")
    yield _rule("apiextensions.k8s.io", crds, "patch", names=crd_names(catalog))  # an annotation
    yield _rule("cert-manager.io", ["issuers", "clusterissuers"], *_READ)
    every = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
    yield _rule(_RBAC, every, *_READ, "create")
    yield _rule(_RBAC, every[:2], "patch", "delete", names=_CLUSTER_ROLES)
    yield _rule(_RBAC, every[:1], "escalate", "bind", names=_CLUSTER_ROLES)
    yield _rule(_RBAC, every[2:], "patch", "delete", names=_ROLES)
    yield _rule(_RBAC, every[2:3], "escalate", "bind", names=_ROLES)
    webhooks = ["validatingwebhookconfigurations"]
    yield _rule("admissionregistration.k8s.io", webhooks, *_READ, "create")
    yield _rule("admissionregistration.k8s.io", webhooks, "patch", names=_WEBHOOKS)


def deployment_spec(environment: Environment) -> Document:
    """The spec of the operator's own Deployment."""
    fields = {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"}
    variables: list[Document] = [
        {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": field}}}
        for name, field in fields.items()
    ]
    images = {
        "RELATED_IMAGE_EXTERNAL_SECRETS": environment.image,
        "RELATED_IMAGE_BITWARDEN_SDK_SERVER": environment.bitwarden_image,
        "BITWARDEN_SDK_SERVER_IMAGE_VERSION": environment.bitwarden_version,
    }
    variables += [{"name": name, "value": value} for name, value in images.items() if value]
    container = {
        "name": OPERATOR,
        "image": environment.image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["operator", "--listen", "0.0.0.0:8080", "--set", "logFormat=json"],
        "env": variables,
        "ports": [{"name": "metrics", "containerPort": 8080, "protocol": "TCP"}],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "metrics"}},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "metrics"}},
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    pod = {
        "serviceAccountName": OPERATOR,
        "enableServiceLinks": False,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    return {
        "replicas": 1,
        "selector": {"matchLabels": dict(_LABELS)},
        "template": {"metadata": {"labels": dict(_LABELS)}, "spec": pod},
    }
