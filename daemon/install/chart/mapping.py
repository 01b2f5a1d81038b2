"""The values of the chart -> the members of an Installation."""

from typing import Final

from syncret.config.settings.groups import EXPORTING_GROUPS
from syncret.daemon.install.chart.daemon_settings import AUTH, SECURE, SETTINGS
from syncret.daemon.install.chart.inputs import APP, IMAGE, LABELS, NAME, NAMESPACE, helm, v
from syncret.daemon.install.chart.pod_members import LIVE, POD, PROBED, pod
from syncret.daemon.install.chart.values import OPTIONAL
from syncret.daemon.install.outline.nodes import (
    Outline,
    Refused,
    Spliced,
    When,
    all_of,
    any_of,
    each,
    equal,
    first,
    given,
    is_text,
    is_true,
    merged,
    not_,
    omit,
    pair,
    serves,
    text,
    when,
)

_MONITORS: Final = "monitoring.coreos.com/v1/ServiceMonitor"
_MODE: Final = v.serviceMonitor.renderMode
_MONITORED: Final = all_of(
    v.serviceMonitor.enabled, any_of(equal(_MODE, "alwaysRender"), serves(helm, _MONITORS))
)
_MONITOR: Final = when(
    _MONITORED,
    {
        "labels": first(v.serviceMonitor.additionalLabels, {}),
        "namespace": first(v.serviceMonitor.namespace, ""),
        "interval": v.serviceMonitor.interval,
        "scrape_timeout": v.serviceMonitor.scrapeTimeout,
        "endpoint": {
            "honorLabels": is_true(v.serviceMonitor.honorLabels),
            "metricRelabelings": given(v.serviceMonitor.metricRelabelings),
            "relabelings": given(v.serviceMonitor.relabelings),
            "scheme": when(SECURE.enabled, "https"),
            "tlsConfig": when(SECURE.enabled, {"serverName": text(NAME, "-metrics.", NAMESPACE, ".svc")}),
            "authorization": when(
                AUTH.enabled,
                {
                    "type": "Bearer",
                    "credentials": {
                        "name": text(first(v.serviceAccount.name, NAME), "-token"),
                        "key": "token",
                    },
                },
            ),
        },
    },
    when(
        all_of(v.serviceMonitor.enabled, equal(_MODE, "failIfMissing")),
        Refused(
            "serviceMonitor.enabled",
            "needs the CRD of ServiceMonitor",
            "install the Prometheus operator first",
        ),
        None,
    ),
)

_CERTIFICATE: Final = v.webhook.certManager.cert
_WEBHOOK: Final[dict[str, Outline]] = {
    "failure_policy": v.webhook.failurePolicy,
    "port": v.webhook.port,
    "annotations": first(v.webhook.annotations, {}),
    "secret_annotations": first(v.webhook.secretAnnotations, {}),
    "separate": v.webhook.separate,
    "replicas": v.webhook.replicaCount,
    "pod": when(v.webhook.separate, pod(v.webhook), {}),
    "cert_dir": v.webhook.certDir,
    "check_interval": first(v.webhook.certCheckInterval, ""),
    "lookahead_interval": first(v.webhook.lookaheadInterval, ""),
    "service": when(
        v.webhook.service.enabled,
        {
            "type": v.webhook.service.type,
            "labels": first(v.webhook.service.labels, {}),
            "annotations": first(v.webhook.service.annotations, {}),
            "load_balancer_ip": first(v.webhook.service.loadBalancerIP, ""),
        },
        None,
    ),
    "cert_manager": when(
        v.webhook.certManager.enabled,
        {
            "inject": v.webhook.certManager.addInjectorAnnotations,
            "create": _CERTIFICATE.create,
            "issuer": _CERTIFICATE.issuerRef,
            "annotations": first(_CERTIFICATE.annotations, {}),
            "spec": {
                "duration": given(_CERTIFICATE.duration),
                "renewBefore": given(_CERTIFICATE.renewBefore),
                "revisionHistoryLimit": given(_CERTIFICATE.revisionHistoryLimit),
                "privateKey": given(_CERTIFICATE.privateKey),
                "signatureAlgorithm": given(_CERTIFICATE.signatureAlgorithm),
            },
        },
        None,
    ),
}

MAPPING: Final[dict[str, Outline]] = {
    "image": IMAGE,
    "name": NAME,
    "app": APP,
    "namespace": NAMESPACE,
    "labels": LABELS,
    "replicas": v.replicaCount,
    "only_namespace": when(v.scopedRBAC, first(v.scopedNamespace, NAMESPACE), first(v.scopedNamespace, "")),
    "settings": SETTINGS,
    "flags": merged(
        {"loglevel": v.log.level, "zap-time-encoding": v.log.timeEncoding},
        omit(v.extraArgs, "enable-leader-election", "leader-election-id", "controller-class"),
    ),
    "generic_targets": when(
        v.genericTargets.enabled,
        [
            {"group": "", "resources": ["configmaps"]},
            each(v.genericTargets.resources, lambda one: {"group": one.apiGroup, "resources": one.resources}),
        ],
        [],
    ),
    "exporting_groups": when(v.exports.enabled, first(v.exports.groups, [*EXPORTING_GROUPS]), []),
    "port": v.metrics.listen.port,
    "health_port": when(PROBED, When(is_text(LIVE.httpGet.port), LIVE.port, LIVE.httpGet.port), 0),
    "service_account": {
        "create": v.serviceAccount.create,
        "name": first(v.serviceAccount.name, When(v.serviceAccount.create, "", "default")),
        "labels": first(v.serviceAccount.extraLabels, {}),
        "annotations": first(v.serviceAccount.annotations, {}),
        "automount": v.serviceAccount.automount,
    },
    "rbac": {
        "create": v.rbac.create,
        "tokens": v.rbac.serviceAccountTokenCreate,
        "finalizers": v.openshiftFinalizers,
        "reviews": is_true(any_of(v.systemAuthDelegator, AUTH.enabled)),
        "view": v.rbac.aggregateToView,
        "edit": v.rbac.aggregateToEdit,
        "admin": v.rbac.aggregateToAdmin,
        "service_bindings": v.rbac.servicebindings.create,
    },
    "pod": POD,
    "deployment": {
        "create": v.createOperator,
        # ESO's own Deployment has the name alone, and a selector that cannot become ours
        "name": text(NAME, "-controller"),
        "container": "syncret",
        "annotations": first(v.deploymentAnnotations, {}),
        "revision_history_limit": v.revisionHistoryLimit,
        "strategy": first(v.strategy, {}),
    },
    "ip_family_policy": first(v.service.ipFamilyPolicy, ""),
    "ip_families": first(v.service.ipFamilies, []),
    "metrics_service": when(
        any_of(v.metrics.service.enabled, _MONITORED),
        {"port": v.metrics.service.port, "annotations": first(v.metrics.service.annotations, {})},
        None,
    ),
    "disruption_budget": when(
        v.podDisruptionBudget.enabled,
        {
            "name": first(v.podDisruptionBudget.nameOverride, text(NAME, "-pdb")),
            "min_available": v.podDisruptionBudget.minAvailable,
            "max_unavailable": v.podDisruptionBudget.maxUnavailable,
        },
        None,
    ),
    "network_policy": when(
        v.networkPolicy.enabled,
        {
            "ingress": when(
                v.networkPolicy.ingress,
                [
                    Spliced(v.networkPolicy.ingress),
                    when(
                        v.webhook.create,
                        {"ports": [{"protocol": "TCP", "port": v.webhook.port}]},
                    ),
                ],
                [],
            ),
            "egress": first(v.networkPolicy.egress, []),
        },
        None,
    ),
    "service_monitor": _MONITOR,
    "dashboard": when(
        v.grafanaDashboard.enabled,
        {
            "labels": merged(
                pair(v.grafanaDashboard.sidecarLabel, v.grafanaDashboard.sidecarLabelValue),
                v.grafanaDashboard.extraLabels,
            ),
            "annotations": first(v.grafanaDashboard.annotations, {}),
        },
        None,
    ),
    "webhook": when(v.webhook.create, _WEBHOOK, None),
    "crds": when(
        v.installCRDs,
        {
            "annotations": first(v.crds.annotations, {}),
            "serve_v1beta1": v.crds.unsafeServeV1Beta1,
            "left_out": [when(not_(v.crds[f"create{kind.kind}"]), kind.kind) for kind in OPTIONAL],
        },
        None,
    ),
    "objects": first(v.extraObjects, []),
}
