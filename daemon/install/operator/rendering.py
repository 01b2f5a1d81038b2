"""Renders the objects that the operator installs, in the order in which they are applied."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from syncret.config.catalog import Catalog
from syncret.config.meta import Document
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.operator.bitwarden import bitwarden
from syncret.daemon.install.operator.choices import Choices, Environment, Proxy
from syncret.daemon.install.operator.components import (
    BITWARDEN,
    COMPONENTS,
    NAME,
    OPERATOR,
    belongs_to,
    labels,
)
from syncret.daemon.install.operator.network import policies
from syncret.daemon.install.parts import CertManager, Deployment, Pod, Webhook
from syncret.daemon.install.render import render

CERTIFICATE: Final = f"{NAME}-webhook"
"""The Secret with the webhook's certificate that we make; cert-manager's has `-cm` behind it."""

_CA_FOLDER: Final = "/etc/syncret/trusted-ca"
_CA_BUNDLE: Final = f"{NAME}-trusted-ca-bundle"
_RESTRICTED: Final[Document] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
"""Without a user: OpenShift gives one of its own."""

_ORDER: Final = (
    *("Namespace", "NetworkPolicy", "ServiceAccount", "Certificate", "Secret", "ConfigMap"),
    *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "Deployment"),
    "ValidatingWebhookConfiguration",
)
_RIGHTS: Final = OPERATOR
"""The Role that the operator itself needs in the installation's namespace: applied right after it."""

_TRUST_FOLDERS: Final = {NAME: _CA_FOLDER, BITWARDEN: "/etc/pki/tls/certs"}
"""Where a component looks for authorities; the Bitwarden server is written in Go, which looks there."""

_CLUSTER_SCOPED: Final = frozenset(
    {"Namespace", "ClusterRole", "ClusterRoleBinding", "ValidatingWebhookConfiguration"}
)
_VARIABLE_NAMES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class Name(NamedTuple):
    """The name of an object."""

    api_version: str
    kind: str
    namespace: str
    name: str


def wanted(chosen: Choices, environment: Environment, catalog: Catalog) -> Sequence[Document]:
    """The objects of an installation, in their order. Raises ConfigError for what `problems` refuses."""
    installed = [
        each for each in render(_installation(chosen, environment), catalog) if each["kind"] != "Namespace"
    ]
    if chosen.bitwarden is not None:
        installed += bitwarden(chosen, chosen.bitwarden, environment)
    if chosen.proxy:
        installed.append(_authorities())
    components = [each["metadata"]["name"] for each in installed if each["kind"] == "Deployment"]
    installed += policies(chosen, components)
    installed.sort(key=lambda each: _ORDER.index(each["kind"]))
    first: list[Document] = [_object("v1", "Namespace", chosen.namespace), *_own_rights(environment)]
    return [_finished(each, chosen, environment) for each in (*first, *installed)]


def name_of(document: Document) -> Name:
    """The name of an object that a document describes."""
    metadata = document["metadata"]
    return Name(document["apiVersion"], document["kind"], metadata.get("namespace", ""), metadata["name"])


def is_right_of_operator(document: Document) -> bool:
    """Whether an object gives rights to the operator itself, which nothing else needs."""
    return document["kind"] in {"Role", "RoleBinding"} and document["metadata"]["name"] == _RIGHTS


def is_left_alone(document: Document, chosen: Choices) -> bool:
    """Whether one of our objects stays though it is not wanted any more: namespaces, and those of plugins."""
    if document["kind"] == "Namespace":
        return True
    return belongs_to(document) == BITWARDEN and not (chosen.clean_up and chosen.bitwarden is None)


def _object(api_version: str, kind: str, name: str, **members: Any) -> Document:  # noqa: ANN401  # any JSON
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **members}


def _installation(chosen: Choices, environment: Environment) -> Installation:
    settings = {
        "exports.groups": "[]",  # the Go operator gives no rights for them, and has none itself
        "leaderElection.enabled": "true",
        "logFormat": "json",
        "logLevel": chosen.log_level,
    }
    if chosen.only_namespace:
        kinds = ("clusterStore", "clusterExternalSecret", "clusterPushSecret")
        settings |= {f"process.{kind}": "false" for kind in kinds}
    if chosen.proxy:
        settings["trustedCaFile"] = f"{_CA_FOLDER}/ca-bundle.crt"
    pod = Pod(
        security_context=_RESTRICTED,
        resources={},
        liveness=_probe("/healthz"),
        readiness=_probe("/readyz"),
    )
    issued = chosen.cert_manager
    return Installation(
        image=environment.image,
        name=NAME,
        app=NAME,
        namespace=chosen.namespace,
        only_namespace=chosen.only_namespace,
        settings=settings,
        port=8080,
        health_port=8082,
        pod=pod,
        deployment=Deployment(container=NAME),
        webhook=Webhook(
            separate=True,
            check_interval=chosen.check_interval,
            secret=CERTIFICATE if issued is None else f"{CERTIFICATE}-cm",
            pod=pod,
            cert_manager=None
            if issued is None
            else CertManager(
                inject=issued.inject,
                issuer=dict(issued.issuer),
                spec={"duration": issued.duration, "renewBefore": issued.renew_before},
            ),
        ),
    )


def _probe(path: str) -> Document:
    return {"httpGet": {"path": path, "port": "live"}, "periodSeconds": 10, "timeoutSeconds": 5}


def _own_rights(environment: Environment) -> Iterator[Document]:
    """The operator's rights in the installation's namespace, so that it needs none for Secrets elsewhere."""
    every = ("get", "list", "watch", "create", "patch", "delete")
    rules = [
        {"apiGroups": [group], "resources": [*resources], "verbs": [*every]}
        for group, resources in (
            ("", ("configmaps", "secrets", "serviceaccounts", "services")),
            ("apps", ("deployments",)),
            ("cert-manager.io", ("certificates",)),
            ("networking.k8s.io", ("networkpolicies",)),
            ("rbac.authorization.k8s.io", ("roles", "rolebindings")),
        )
    ]
    yield _object("rbac.authorization.k8s.io/v1", "Role", _RIGHTS, rules=rules)
    subject = {"kind": "ServiceAccount", "name": OPERATOR, "namespace": environment.namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": _RIGHTS}
    yield _object("rbac.authorization.k8s.io/v1", "RoleBinding", _RIGHTS, roleRef=role, subjects=[subject])


def _authorities() -> Document:
    """Its data is the cluster's or the administrator's."""
    document = _object("v1", "ConfigMap", _CA_BUNDLE)
    document["metadata"]["labels"] = {"config.openshift.io/inject-trusted-cabundle": "true"}
    return document


def _finished(document: Document, chosen: Choices, environment: Environment) -> Document:
    """The object with our labels, the user's annotations, and the choices for Pods of all components."""
    component = belongs_to(document)
    metadata = document["metadata"]
    metadata["labels"] = {
        **metadata.get("labels", {}),
        **labels(chosen, environment, component),
    }
    annotations = {**chosen.annotations, **metadata.get("annotations", {})}
    if annotations:
        metadata["annotations"] = annotations
    if document["kind"] not in _CLUSTER_SCOPED:
        metadata.setdefault("namespace", chosen.namespace)
    if document["kind"] == "Deployment":
        _finish_deployment(document["spec"], chosen, environment, component)
    return document


def _finish_deployment(spec: Document, chosen: Choices, environment: Environment, component: str) -> None:
    for name in ("replicas", "strategy"):  # left to the administrator or an autoscaler
        spec.pop(name, None)
    revisions = chosen.revisions.get(COMPONENTS[component])
    spec.pop("revisionHistoryLimit", None)
    if revisions is not None:
        spec["revisionHistoryLimit"] = revisions
    metadata, pod = spec["template"]["metadata"], spec["template"]["spec"]
    metadata["labels"] |= labels(chosen, environment, component)
    if chosen.annotations:
        metadata["annotations"] = {**chosen.annotations, **metadata.get("annotations", {})}
    pod |= {name: value for name, value in chosen.pods.items() if name != "resources"}
    containers: list[Document] = pod["containers"]
    for container in (*containers, *pod.get("initContainers", ())):
        _set_variables(container, _proxy_variables(chosen.proxy))
    main = containers[0]
    if chosen.pods.get("resources"):
        main["resources"] = chosen.pods["resources"]
    _set_variables(main, chosen.variables.get(COMPONENTS[component], ()))
    if chosen.proxy and component in _TRUST_FOLDERS:
        _mount_authorities(pod, main, _TRUST_FOLDERS[component])


def _set_variables(container: Document, variables: Sequence[Document]) -> None:
    """Set variables of the container; a new value replaces one of the same name."""
    new = {each["name"] for each in variables}
    kept = [each for each in container.get("env", ()) if each["name"] not in new]
    if kept or variables:
        container["env"] = [*kept, *variables]


def _proxy_variables(proxy: Proxy) -> Sequence[Document]:
    values = dict(zip(_VARIABLE_NAMES, (proxy.http, proxy.https, proxy.none), strict=True))
    return [
        {"name": spelling, "value": value}
        for name, value in values.items()
        if value
        for spelling in (name, name.lower())
    ]


def _mount_authorities(pod: Document, container: Document, folder: str) -> None:
    volume = {"name": "trusted-ca", "configMap": {"name": _CA_BUNDLE, "optional": True}}
    mount = {"name": "trusted-ca", "mountPath": folder, "readOnly": True}
    pod["volumes"] = [*pod.get("volumes", ()), volume]
    container["volumeMounts"] = [*container.get("volumeMounts", ()), mount]
