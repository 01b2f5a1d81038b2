"""The Deployment of an installation."""

from collections.abc import Iterator
from typing import Final

from syncret.config.meta import Document
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.metadata import named, selector

_RUN: Final = {"name": "run", "mountPath": "/run/syncret"}
"""The folder of the control socket: `kubectl exec ... -- syncret status`."""


def deployment(installation: Installation) -> Document:
    """The Deployment, with any number of replicas."""
    head = named(
        installation,
        "apps/v1",
        "Deployment",
        installation.name,
        namespace=installation.namespace,
        annotations=installation.deployment.annotations,
    )
    return {
        **head,
        "spec": {
            "replicas": installation.replicas,
            "revisionHistoryLimit": installation.deployment.revision_history_limit,
            "strategy": dict(installation.deployment.strategy) or _strategy(installation),
            "selector": {"matchLabels": dict(selector(installation))},
            "template": _template(installation),
        },
    }


def _strategy(installation: Installation) -> Document:
    """Without an election two daemons would both act: one has to end before the next begins."""
    if not installation.elects:
        return {"type": "Recreate"}
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def _template(installation: Installation) -> Document:
    pod = installation.pod
    metadata: Document = {"labels": {**installation.labels, **pod.labels, **selector(installation)}}
    if pod.annotations:
        metadata["annotations"] = dict(pod.annotations)
    spec: Document = {
        "serviceAccountName": installation.account,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        "securityContext": dict(pod.security_context),
        "containers": [_container(installation), *pod.containers],
        "volumes": [{"name": _RUN["name"], "emptyDir": {"medium": "Memory"}}, *pod.volumes],
        **pod.spec,
    }
    if pod.init_containers:
        spec["initContainers"] = list(pod.init_containers)
    if pod.pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in pod.pull_secrets]
    return {"metadata": metadata, "spec": spec}


def _container(installation: Installation) -> Document:
    pod = installation.pod
    return {
        "name": "syncret",
        "image": installation.image,
        "imagePullPolicy": pod.pull_policy,
        "args": list(_arguments(installation)),
        "env": [
            _of_pod("POD_NAME", "metadata.name"),
            _of_pod("POD_NAMESPACE", "metadata.namespace"),
            # the image is a sidecar's, too: what it sets for that one has no meaning here
            {"name": "SYNCRET_MANIFESTS", "value": ""},
            {"name": "SYNCRET_OUTPUT_DIR", "value": ""},
            *pod.env,
        ],
        "ports": [{"name": "metrics", "containerPort": installation.port}],
        "livenessProbe": _probe("/healthz"),
        "readinessProbe": _probe("/readyz"),
        "resources": dict(pod.resources),
        "securityContext": dict(pod.container_security_context),
        "volumeMounts": [dict(_RUN), *pod.volume_mounts],
    }


def _arguments(installation: Installation) -> Iterator[str]:
    yield from ("run", "--kubernetes")
    if installation.only_namespace:
        yield from ("--namespace", installation.only_namespace)
    for name, text in installation.arguments.items():
        yield from ("--set", f"{name}={text}")


def _of_pod(variable: str, field: str) -> Document:
    return {"name": variable, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": field}}}


def _probe(path: str) -> Document:
    return {"httpGet": {"path": path, "port": "metrics"}, "periodSeconds": 10, "timeoutSeconds": 5}
