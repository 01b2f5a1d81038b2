"""The values about Pods, and those of ESO's two other Deployments, which syncret does not have."""

from typing import Any, Final

from syncret.daemon.install.chart.keys import (
    Keys,
    anything,
    document,
    documents,
    idle_keys,
    integer,
    no,
    number_or_share,
    text,
    texts,
    yes,
)

_CONFINED: Final[dict[str, Any]] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "enabled": True,
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_RESOURCES: Final = {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": "256Mi"}}


def _probe(path: str, failures: int) -> dict[str, Any]:
    return {
        "address": "",
        "port": 8082,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
        "periodSeconds": 10,
        "successThreshold": 1,
        "initialDelaySeconds": 10,
        "httpGet": {"port": "live", "path": path},
    }


_LISTEN: Final[dict[str, Any]] = {
    "port": 8080,
    "auth": {"enabled": False},
    "secure": {
        "enabled": False,
        "certDir": "/etc/tls",
        "certFile": "/etc/tls/tls.crt",
        "keyFile": "/etc/tls/tls.key",
    },
}
_OTHER_PROBES: Final[dict[str, Any]] = {
    name: {
        "enabled": name == "readinessProbe",
        "port": 8081,
        "timeoutSeconds": 5,
        "failureThreshold": 5,
        "periodSeconds": 10,
        "successThreshold": 1,
        "initialDelaySeconds": 10,
    }
    for name in ("livenessProbe", "readinessProbe", "startupProbe")
}
_OTHER_PROBES["readinessProbe"]["address"] = ""

_OTHER_POD: Final[dict[str, Any]] = {
    "replicaCount": 1,
    "log": {"level": "info", "timeEncoding": "epoch"},
    "revisionHistoryLimit": 10,
    "image": {"repository": "", "pullPolicy": "IfNotPresent", "tag": "", "flavour": ""},
    "imagePullSecrets": [],
    "serviceAccount": {"create": True, "automount": True, "annotations": {}, "extraLabels": {}, "name": ""},
    "nodeSelector": {},
    "hostAliases": [],
    "tolerations": [],
    "topologySpreadConstraints": [],
    "affinity": {},
    "strategy": {},
    "hostNetwork": False,
    "hostUsers": None,
    "networkPolicy": {"enabled": False, "ingress": [], "egress": []},
    "priorityClassName": "",
    "schedulerName": "",
    "runtimeClassName": "",
    "podDisruptionBudget": {
        "enabled": False,
        "minAvailable": 1,
        "maxUnavailable": None,
        "nameOverride": "",
    },
    "metrics": {"listen": _LISTEN, "service": {"enabled": False, "port": 8080, "annotations": {}}},
    **_OTHER_PROBES,
    "extraEnv": [],
    "extraArgs": {},
    "extraInitContainers": [],
    "extraVolumes": [],
    "extraVolumeMounts": [],
    "deploymentAnnotations": {},
    "podAnnotations": {},
    "podLabels": {},
    "podSecurityContext": {},
    "securityContext": {},
    "resources": {},
}
"""What ESO's chart can say about a Deployment besides that of the controller, with its defaults."""

_NOT_SEPARATE: Final = (
    *("log", "revisionHistoryLimit", "image", "serviceAccount", "strategy", "networkPolicy"),
    *("podDisruptionBudget", "metrics", *_OTHER_PROBES, "extraArgs", "deploymentAnnotations"),
)
WEBHOOK_PODS: Final[Keys] = {
    **idle_keys(
        {name: _OTHER_POD[name] for name in _NOT_SEPARATE},
        "No effect: a webhook of its own has what the controller has.",
    ),
    "replicaCount": integer(1, "With `separate`: how many replicas."),
    "imagePullSecrets": documents("With `separate`: Secrets to pull the image with."),
    "nodeSelector": texts("With `separate`: labels of the nodes to run on."),
    "tolerations": documents("With `separate`: taints to tolerate."),
    "topologySpreadConstraints": documents("With `separate`: how replicas are spread."),
    "affinity": document("With `separate`: which nodes and Pods to be near to, or far from."),
    "hostAliases": documents("With `separate`: entries of /etc/hosts."),
    "hostNetwork": no("With `separate`: use the network of the node."),
    "hostUsers": anything(None, "With `separate`: use the users of the node.", "boolean", "null"),
    "priorityClassName": text("", "With `separate`: the PriorityClass."),
    "schedulerName": text("", "With `separate`: the scheduler."),
    "runtimeClassName": text("", "With `separate`: the RuntimeClass."),
    "extraEnv": documents("With `separate`: more environment variables."),
    "extraVolumes": documents("With `separate`: more volumes."),
    "extraVolumeMounts": documents("With `separate`: more volume mounts."),
    "extraInitContainers": documents("With `separate`: more init containers."),
    "podAnnotations": texts("With `separate`: annotations of the Pods."),
    "podLabels": texts("With `separate`: labels of the Pods."),
    "podSecurityContext": document("With `separate`: as above.", {"enabled": True}),
    "securityContext": document("With `separate`: as above.", _CONFINED),
    "resources": document("With `separate`: as above.", _RESOURCES),
}
CERT_CONTROLLER: Final = idle_keys(
    {
        "create": True,
        "requeueInterval": "5m",
        "enablePartialCache": True,
        "rbac": {"create": True},
        **_OTHER_POD,
    },
    "No effect: the active replica sees to certificates, or with `webhook.separate` a Deployment of its own.",
)

PODS: Final[Keys] = {
    "extraEnv": documents("More environment variables; any setting of the daemon is SYNCRET_NAME."),
    "extraArgs": anything(
        {}, "More arguments of `syncret run`, by their names without hyphens: ESO's flags.", "object"
    ),
    "extraVolumes": documents("More volumes."),
    "extraVolumeMounts": documents("More volume mounts of the daemon's container."),
    "extraInitContainers": documents("More init containers."),
    "extraContainers": documents("More containers beside the daemon's."),
    "podSpecExtra": document("Other members of the PodSpec; none that this chart makes itself."),
    "deploymentAnnotations": texts("Annotations of the Deployment."),
    "strategy": document(
        "How the Deployment replaces Pods. Empty: one by one with leader election, else Recreate."
    ),
    "podAnnotations": texts("Annotations of the Pods."),
    "podLabels": texts("Labels of the Pods."),
    "podSecurityContext": document(
        "The securityContext of the Pods; `enabled: false` leaves it out.", {"enabled": True}
    ),
    "securityContext": document(
        "The securityContext of the container; `enabled: false` leaves it out.", _CONFINED
    ),
    "resources": document(
        "Memory: 60 MB, and 16 kB for each ExternalSecret with its Secret; see the guide.", _RESOURCES
    ),
    "livenessProbe": {
        "enabled": yes("Whether the kubelet restarts a daemon whose event loop hangs."),
        "spec": document("The probe; `port` is what `live` stands for.", _probe("/healthz", 5)),
    },
    "readinessProbe": {
        "enabled": yes("Whether a Pod counts as ready only once it follows all kinds."),
        "spec": document("The probe.", _probe("/readyz", 3)),
    },
    "nodeSelector": texts("Labels of the nodes to run on."),
    "tolerations": documents("Taints to tolerate."),
    "topologySpreadConstraints": documents("How replicas are spread; by default their own labels select."),
    "affinity": document("Which nodes and Pods to be near to, or far from."),
    "priorityClassName": text("", "The PriorityClass."),
    "schedulerName": text("", "The scheduler; empty: the cluster's."),
    "runtimeClassName": text("", "The RuntimeClass."),
    "hostNetwork": no("Use the network of the node."),
    "hostUsers": anything(None, "Use the users of the node; null: as the cluster does.", "boolean", "null"),
    "dnsPolicy": text("ClusterFirst", "How names are resolved."),
    "dnsConfig": document("More about how names are resolved."),
    "hostAliases": documents("Entries of /etc/hosts."),
    "podDisruptionBudget": {
        "enabled": no("Whether there is a PodDisruptionBudget."),
        "minAvailable": number_or_share(1, "How many Pods, or which share, an eviction leaves."),
        "maxUnavailable": number_or_share(None, "How many it may take; if set, minAvailable does not count."),
        "nameOverride": text("", "Its name; empty: FULLNAME-pdb."),
    },
}
