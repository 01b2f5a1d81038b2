"""The Pods that follow from values of the chart: of the controller, and of a separate webhook."""

from typing import Final

from syncret.daemon.install.chart.inputs import helm, v
from syncret.daemon.install.outline.nodes import (
    SPLICE,
    Outline,
    Value,
    When,
    all_of,
    any_of,
    each,
    equal,
    first,
    given,
    omit,
    present,
    serves,
    when,
)

_OPENSHIFT: Final = "security.openshift.io/v1"
_USERS: Final = ("fsGroup", "runAsUser", "runAsGroup")
"""Fields that OpenShift sets itself."""


def also_global(name: str, section: Value = v) -> Outline:
    """A value, or that for all Pods."""
    return first(section[name], v["global"][name])


def _adapted(context: Value) -> Outline:
    """A securityContext without the fields that OpenShift sets."""
    chosen = v["global"].compatibility.openshift.adaptSecurityContext
    theirs = any_of(equal(chosen, "force"), all_of(equal(chosen, "auto"), serves(helm, _OPENSHIFT)))
    return When(
        context.enabled,
        When(theirs, omit(context, "enabled", *_USERS), omit(context, "enabled")),
        {},
    )


PROBED: Final = any_of(v.livenessProbe.enabled, v.readinessProbe.enabled)
LIVE: Final = v.livenessProbe.spec


def pod(section: Value, more_of_spec: Outline = None) -> dict[str, Outline]:
    """The members that the Pods of the controller and of a separate webhook have in common."""
    return {
        "labels": first(also_global("podLabels", section), {}),
        "annotations": first(also_global("podAnnotations", section), {}),
        "pull_policy": v.image.pullPolicy,
        "pull_secrets": [each(also_global("imagePullSecrets", section), lambda secret: secret.name)],
        "resources": first(section.resources, {}),
        "security_context": _adapted(section.podSecurityContext),
        "container_security_context": _adapted(section.securityContext),
        "env": first(section.extraEnv, []),
        "volumes": first(section.extraVolumes, []),
        "volume_mounts": first(section.extraVolumeMounts, []),
        "init_containers": first(section.extraInitContainers, []),
        "spread": first(also_global("topologySpreadConstraints", section), []),
        "spec": {
            "nodeSelector": given(also_global("nodeSelector", section)),
            "tolerations": given(also_global("tolerations", section)),
            "affinity": given(also_global("affinity", section)),
            "hostAliases": given(also_global("hostAliases", section)),
            "priorityClassName": given(section.priorityClassName),
            "schedulerName": given(section.schedulerName),
            "runtimeClassName": given(section.runtimeClassName),
            "hostNetwork": when(section.hostNetwork, then=True),
            "hostUsers": when(present(section.hostUsers), section.hostUsers),
            "dnsPolicy": given(v.dnsPolicy),
            "dnsConfig": given(v.dnsConfig),
            **({} if more_of_spec is None else {SPLICE: more_of_spec}),
        },
    }


POD: Final[dict[str, Outline]] = {
    **pod(v, v.podSpecExtra),
    "liveness": when(v.livenessProbe.enabled, omit(LIVE, "address", "port"), None),
    "readiness": when(v.readinessProbe.enabled, omit(v.readinessProbe.spec, "address", "port"), None),
    "containers": first(v.extraContainers, []),
}
