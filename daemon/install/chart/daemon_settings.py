"""The daemon's settings that follow from values of the chart."""

from typing import Final

from syncret.daemon.install.chart.inputs import v
from syncret.daemon.install.outline.nodes import (
    Outline,
    Refused,
    all_of,
    any_of,
    as_text,
    equal,
    first,
    given,
    item,
    json_text,
    more,
    not_,
    present,
    when,
)


def _off(name: str, *, clusterwide: bool = False) -> Outline:
    """The setting that switches a kind off."""
    return when(any_of(not_(v[name]), *((v.scopedRBAC,) if clusterwide else ())), "false")


SECURE: Final = v.metrics.listen.secure
AUTH: Final = v.metrics.listen.auth
EXPORT_NAMESPACES: Final = item(item(v.ownIdentity, "azure"), "exportNamespaces")
SETTINGS: Final[dict[str, Outline]] = {
    "leaderElection.enabled": when(
        all_of(
            not_(more(v.replicaCount, 1)),
            any_of(
                v.leaderElect,
                v.leaderElection.enabled,
                equal(as_text(item(v.extraArgs, "enable-leader-election")), "true"),
            ),
        ),
        "true",
    ),
    "leaderElection.id": given(
        first(v.leaderElection.id, v.leaderElectionID, item(v.extraArgs, "leader-election-id"))
    ),
    "leaderElection.namespace": given(v.leaderElection.namespace),
    "leaderElection.leaseDuration": given(
        first(v.leaderElection.leaseDuration, v.leaderElectionLeaseDuration)
    ),
    "leaderElection.renew": given(first(v.leaderElection.renew, v.leaderElectionRetryPeriod)),
    "controllerClass": given(first(v.controllerClass, item(v.extraArgs, "controller-class"))),
    "process.clusterStore": _off("processClusterStore", clusterwide=True),
    "process.clusterExternalSecret": _off("processClusterExternalSecret", clusterwide=True),
    "process.clusterPushSecret": _off("processClusterPushSecret", clusterwide=True),
    "process.secretStore": _off("processSecretStore"),
    "process.pushSecret": _off("processPushSecret"),
    "process.clusterGenerator": _off("processClusterGenerator"),
    "storeInterval": given(v.storeRequeueInterval),
    "extendedMetricLabels": when(v.extendedMetricLabels, "true"),
    "metricsTls.enabled": when(SECURE.enabled, "true"),
    "metricsTls.certDir": when(SECURE.enabled, SECURE.certDir),
    "metricsTls.certName": when(SECURE.enabled, SECURE.certFile),
    "metricsTls.keyName": when(SECURE.enabled, SECURE.keyFile),
    "metricsAuth": when(
        AUTH.enabled,
        when(
            SECURE.enabled,
            "true",
            Refused(
                "metrics.listen.auth.enabled",
                "needs metrics.listen.secure.enabled",
                "a token must not travel in the clear",
            ),
        ),
    ),
    "observe": when(v.observe, "true"),
    "migration.namespace": given(v.migration.namespace),
    "migration.force": when(v.migration.force, "true"),
    "apiWrites": when(v.apiWrites, as_text(v.apiWrites)),
    "externalSecretFinalizer": given(v.externalSecretFinalizer),
    **{
        f"ownIdentity.{name}": when(item(v.ownIdentity, name), as_text(item(v.ownIdentity, name)))
        for name in ("mode", "receivers", "clusterOnly")
    },
    "ownIdentity.azure.exportNamespaces": when(EXPORT_NAMESPACES, as_text(EXPORT_NAMESPACES)),
    **{
        f"egress.{name}": when(present(v.egress[name]), json_text(v.egress[name]))
        for name in ("allow", "deny")
    },
    "exports.groups": when(
        not_(v.exports.enabled), "[]", when(v.exports.groups, json_text(v.exports.groups))
    ),
    "exports.refreshInterval": given(v.exports.refreshInterval),
    "manifestFiles": when(v.manifestFiles, json_text(v.manifestFiles)),
    "workTime": given(v.workTime),
    "workMemory": when(v.workMemory, as_text(v.workMemory)),
    "storeWaits": when(v.storeWaits, as_text(v.storeWaits)),
}
