"""The Deployment of an installation."""

from collections.abc import Sequence
from typing import Final

from syncret.daemon.install import webhook
from syncret.daemon.install.metadata import ACCOUNT, ELECTS, SELECTOR, i, named, spread
from syncret.daemon.install.outline.nodes import (
    SPLICE,
    Outline,
    Refused,
    Spliced,
    any_of,
    as_text,
    each,
    each_pair,
    first,
    given,
    item,
    merged,
    more,
    text,
    when,
)

_RUN: Final = {"name": "run", "mountPath": "/run/syncret"}
"""The folder of the control socket: `kubectl exec ... -- syncret status`."""

_STRATEGY: Final = when(
    i.deployment.strategy,
    i.deployment.strategy,
    when(
        ELECTS,
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        # without an election two daemons would both act: one has to end before the next begins
        {"type": "Recreate"},
    ),
)


def _set(setting: Outline) -> Sequence[Outline]:
    return ("--set", setting)


_ARGUMENTS: Final[list[Outline]] = [
    "run",
    "--kubernetes",
    when(i.only_namespace, Spliced(["--namespace", i.only_namespace])),
    *_set(text("listen=:", as_text(i.port))),
    when(i.health_port, Spliced(_set(text("healthListen=:", as_text(i.health_port))))),
    when(more(i.replicas, 1), Spliced(_set("leaderElection.enabled=true"))),
    when(i.generic_targets, Spliced(_set("allowGenericTargets=true"))),
    *webhook.ARGUMENTS,
    each_pair(i.settings, lambda name, value: Spliced(_set(text(name, "=", value)))),
    each_pair(
        i.flags,
        lambda name, value: when(value, text("--", name, "=", as_text(value)), text("--", name)),
    ),
]


def _of_pod(variable: str, field: str) -> dict[str, Outline]:
    return {"name": variable, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": field}}}


_CONTAINER: Final[dict[str, Outline]] = {
    "name": i.deployment.container,
    "image": i.image,
    "imagePullPolicy": i.pod.pull_policy,
    "args": _ARGUMENTS,
    "env": [
        _of_pod("POD_NAME", "metadata.name"),
        _of_pod("POD_NAMESPACE", "metadata.namespace"),
        _of_pod("POD_UID", "metadata.uid"),
        # the image is a sidecar's, too: what it sets for that one has no meaning here
        {"name": "SYNCRET_MANIFESTS", "value": ""},
        {"name": "SYNCRET_OUTPUT_DIR", "value": ""},
        Spliced(i.pod.env),
    ],
    "ports": [
        {"name": "metrics", "containerPort": i.port, "protocol": "TCP"},
        when(i.health_port, {"name": "live", "containerPort": i.health_port, "protocol": "TCP"}),
        webhook.PORTS,
    ],
    "livenessProbe": given(i.pod.liveness),
    "readinessProbe": given(i.pod.readiness),
    "resources": given(i.pod.resources),
    "securityContext": given(i.pod.container_security_context),
    "volumeMounts": [_RUN, webhook.MOUNTS, Spliced(i.pod.volume_mounts)],
}

_POD: Final[dict[str, Outline]] = {
    "serviceAccountName": ACCOUNT,
    "automountServiceAccountToken": i.service_account.automount,
    "enableServiceLinks": False,
    "securityContext": given(i.pod.security_context),
    "imagePullSecrets": when(i.pod.pull_secrets, [each(i.pod.pull_secrets, lambda name: {"name": name})]),
    "initContainers": given(i.pod.init_containers),
    "containers": [_CONTAINER, Spliced(i.pod.containers)],
    "volumes": [
        {"name": _RUN["name"], "emptyDir": {"medium": "Memory"}},
        webhook.VOLUMES,
        Spliced(i.pod.volumes),
    ],
    "topologySpreadConstraints": spread(i.pod.spread, SELECTOR),
}
_MORE: Final = when(
    any_of(*(item(i.pod.spec, name) for name in _POD)),
    Refused(
        "pod.spec",
        "has a member that the installation makes itself",
        f"leave these to its other values: {', '.join(sorted(_POD))}",
    ),
    i.pod.spec,
)

DEPLOYMENT: Final = when(
    i.deployment.create,
    {
        **named(
            "apps/v1",
            "Deployment",
            first(i.deployment.name, i.name),
            annotations=i.deployment.annotations,
        ),
        "spec": {
            "replicas": i.replicas,
            "revisionHistoryLimit": i.deployment.revision_history_limit,
            "strategy": _STRATEGY,
            "selector": {"matchLabels": SELECTOR},
            "template": {
                "metadata": {
                    "labels": merged(i.labels, i.pod.labels, SELECTOR),
                    "annotations": given(i.pod.annotations),
                },
                "spec": {**_POD, SPLICE: _MORE},
            },
        },
    },
)
"""The Deployment, with any number of replicas."""
