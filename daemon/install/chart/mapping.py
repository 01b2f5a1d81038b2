"""The values of the chart -> the members of an Installation. The only place that knows both."""

from typing import Final

from syncret.daemon.install.chart.values import OPTIONAL
from syncret.daemon.install.outline.nodes import (
    SPLICE,
    Outline,
    Refused,
    Root,
    Spliced,
    Value,
    When,
    all_of,
    any_of,
    as_text,
    contains,
    each,
    equal,
    first,
    given,
    is_text,
    is_true,
    item,
    json_text,
    merged,
    more,
    not_,
    omit,
    pair,
    present,
    serves,
    text,
    trunc,
    when,
)

HELM: Final = Root()
"""What a template of Helm sees: Values, Release, Chart, Capabilities."""
_HELM: Final = Value(HELM)
_V: Final = _HELM.Values
_RELEASE: Final = _HELM.Release

_LONGEST: Final = 40
_LONGEST_LABEL: Final = 63
_MONITORS: Final = "monitoring.coreos.com/v1/ServiceMonitor"
_OPENSHIFT: Final = "security.openshift.io/v1"
_USERS: Final = ("fsGroup", "runAsUser", "runAsGroup")
"""What OpenShift chooses itself."""

_APP: Final = trunc(first(_V.nameOverride, "syncret"), _LONGEST_LABEL)
_NAME: Final = trunc(
    first(
        _V.fullnameOverride,
        When(contains(_RELEASE.Name, _APP), _RELEASE.Name, text(_RELEASE.Name, "-", _APP)),
    ),
    _LONGEST,
)
_NAMESPACE: Final = first(_V.namespaceOverride, _RELEASE.Namespace)
_REPOSITORY: Final = first(
    _V["global"].repository,
    _V.image.repository,
    Refused("image.repository", "is missing", "there is no default: push the image to a registry"),
)
_IMAGE: Final = when(
    contains(_REPOSITORY, "external-secrets/external-secrets"),
    Refused("image.repository", "is that of another program", "name that of syncret's image"),
    text(_REPOSITORY, ":", first(_V.image.tag, _HELM.Chart.AppVersion)),
)
_LABELS: Final = merged(
    {
        "helm.sh/chart": text(_HELM.Chart.Name, "-", _HELM.Chart.Version),
        "app.kubernetes.io/version": _HELM.Chart.AppVersion,
        "app.kubernetes.io/managed-by": _RELEASE.Service,
    },
    _V.commonLabels,
)


def _also_global(name: str, section: Value = _V) -> Outline:
    """A value, or that for all Pods."""
    return first(section[name], _V["global"][name])


def _adapted(context: Value) -> Outline:
    """A securityContext, as far as OpenShift does not choose it."""
    wish = _V["global"].compatibility.openshift.adaptSecurityContext
    theirs = any_of(equal(wish, "force"), all_of(equal(wish, "auto"), serves(_HELM, _OPENSHIFT)))
    return When(
        context.enabled,
        When(theirs, omit(context, "enabled", *_USERS), omit(context, "enabled")),
        {},
    )


def _off(name: str, *, clusterwide: bool = False) -> Outline:
    """The setting of a kind that is not acted on."""
    return when(any_of(not_(_V[name]), *((_V.scopedRBAC,) if clusterwide else ())), "false")


_SECURE: Final = _V.metrics.listen.secure
_AUTH: Final = _V.metrics.listen.auth
_SETTINGS: Final[dict[str, Outline]] = {
    "leaderElection.enabled": when(
        all_of(
            not_(more(_V.replicaCount, 1)),
            any_of(
                _V.leaderElect,
                _V.leaderElection.enabled,
                equal(as_text(item(_V.extraArgs, "enable-leader-election")), "true"),
            ),
        ),
        "true",
    ),
    "leaderElection.id": given(
        first(_V.leaderElection.id, _V.leaderElectionID, item(_V.extraArgs, "leader-election-id"))
    ),
    "leaderElection.namespace": given(_V.leaderElection.namespace),
    "leaderElection.leaseDuration": given(
        first(_V.leaderElection.leaseDuration, _V.leaderElectionLeaseDuration)
    ),
    "leaderElection.renew": given(first(_V.leaderElection.renew, _V.leaderElectionRetryPeriod)),
    "controllerClass": given(first(_V.controllerClass, item(_V.extraArgs, "controller-class"))),
    "process.clusterStore": _off("processClusterStore", clusterwide=True),
    "process.clusterExternalSecret": _off("processClusterExternalSecret", clusterwide=True),
    "process.clusterPushSecret": _off("processClusterPushSecret", clusterwide=True),
    "process.secretStore": _off("processSecretStore"),
    "process.pushSecret": _off("processPushSecret"),
    "process.clusterGenerator": _off("processClusterGenerator"),
    "storeInterval": given(_V.storeRequeueInterval),
    "extendedMetricLabels": when(_V.extendedMetricLabels, "true"),
    "metricsTls.enabled": when(_SECURE.enabled, "true"),
    "metricsTls.certDir": when(_SECURE.enabled, _SECURE.certDir),
    "metricsTls.certName": when(_SECURE.enabled, _SECURE.certFile),
    "metricsTls.keyName": when(_SECURE.enabled, _SECURE.keyFile),
    "metricsAuth": when(
        _AUTH.enabled,
        when(
            _SECURE.enabled,
            "true",
            Refused(
                "metrics.listen.auth.enabled",
                "needs metrics.listen.secure.enabled",
                "a token must not travel in the clear",
            ),
        ),
    ),
    "observe": when(_V.observe, "true"),
    "migration.namespace": given(_V.migration.namespace),
    "migration.force": when(_V.migration.force, "true"),
    "apiWrites": when(_V.apiWrites, as_text(_V.apiWrites)),
    "externalSecretFinalizer": given(_V.externalSecretFinalizer),
    **{
        f"ownIdentity.{name}": when(item(_V.ownIdentity, name), as_text(item(_V.ownIdentity, name)))
        for name in ("mode", "receivers", "clusterOnly")
    },
    **{
        f"egress.{name}": when(present(_V.egress[name]), json_text(_V.egress[name]))
        for name in ("allow", "deny")
    },
    "manifestFiles": when(_V.manifestFiles, json_text(_V.manifestFiles)),
    "workTime": given(_V.workTime),
    "workMemory": when(_V.workMemory, as_text(_V.workMemory)),
    "storeWaits": when(_V.storeWaits, as_text(_V.storeWaits)),
}

_PROBES: Final = any_of(_V.livenessProbe.enabled, _V.readinessProbe.enabled)
_LIVE: Final = _V.livenessProbe.spec


def _pod(section: Value, more_of_spec: Outline = None) -> dict[str, Outline]:
    """What the controller and a webhook of its own have in common."""
    return {
        "labels": first(_also_global("podLabels", section), {}),
        "annotations": first(_also_global("podAnnotations", section), {}),
        "pull_policy": _V.image.pullPolicy,
        "pull_secrets": [each(_also_global("imagePullSecrets", section), lambda secret: secret.name)],
        "resources": first(section.resources, {}),
        "security_context": _adapted(section.podSecurityContext),
        "container_security_context": _adapted(section.securityContext),
        "env": first(section.extraEnv, []),
        "volumes": first(section.extraVolumes, []),
        "volume_mounts": first(section.extraVolumeMounts, []),
        "init_containers": first(section.extraInitContainers, []),
        "spread": first(_also_global("topologySpreadConstraints", section), []),
        "spec": {
            "nodeSelector": given(_also_global("nodeSelector", section)),
            "tolerations": given(_also_global("tolerations", section)),
            "affinity": given(_also_global("affinity", section)),
            "hostAliases": given(_also_global("hostAliases", section)),
            "priorityClassName": given(section.priorityClassName),
            "schedulerName": given(section.schedulerName),
            "runtimeClassName": given(section.runtimeClassName),
            "hostNetwork": when(section.hostNetwork, then=True),
            "hostUsers": when(present(section.hostUsers), section.hostUsers),
            "dnsPolicy": given(_V.dnsPolicy),
            "dnsConfig": given(_V.dnsConfig),
            **({} if more_of_spec is None else {SPLICE: more_of_spec}),
        },
    }


_POD: Final[dict[str, Outline]] = {
    **_pod(_V, _V.podSpecExtra),
    "liveness": when(_V.livenessProbe.enabled, omit(_LIVE, "address", "port"), None),
    "readiness": when(_V.readinessProbe.enabled, omit(_V.readinessProbe.spec, "address", "port"), None),
    "containers": first(_V.extraContainers, []),
}

_MODE: Final = _V.serviceMonitor.renderMode
_MONITORED: Final = all_of(
    _V.serviceMonitor.enabled, any_of(equal(_MODE, "alwaysRender"), serves(_HELM, _MONITORS))
)
_MONITOR: Final = when(
    _MONITORED,
    {
        "labels": first(_V.serviceMonitor.additionalLabels, {}),
        "namespace": first(_V.serviceMonitor.namespace, ""),
        "interval": _V.serviceMonitor.interval,
        "scrape_timeout": _V.serviceMonitor.scrapeTimeout,
        "endpoint": {
            "honorLabels": is_true(_V.serviceMonitor.honorLabels),
            "metricRelabelings": given(_V.serviceMonitor.metricRelabelings),
            "relabelings": given(_V.serviceMonitor.relabelings),
            "scheme": when(_SECURE.enabled, "https"),
            "tlsConfig": when(_SECURE.enabled, {"serverName": text(_NAME, "-metrics.", _NAMESPACE, ".svc")}),
            "authorization": when(
                _AUTH.enabled,
                {
                    "type": "Bearer",
                    "credentials": {
                        "name": text(first(_V.serviceAccount.name, _NAME), "-token"),
                        "key": "token",
                    },
                },
            ),
        },
    },
    when(
        all_of(_V.serviceMonitor.enabled, equal(_MODE, "failIfMissing")),
        Refused(
            "serviceMonitor.enabled",
            "needs the CRD of ServiceMonitor",
            "install the Prometheus operator first",
        ),
        None,
    ),
)

_CERTIFICATE: Final = _V.webhook.certManager.cert
_WEBHOOK: Final[dict[str, Outline]] = {
    "failure_policy": _V.webhook.failurePolicy,
    "port": _V.webhook.port,
    "annotations": first(_V.webhook.annotations, {}),
    "secret_annotations": first(_V.webhook.secretAnnotations, {}),
    "separate": _V.webhook.separate,
    "replicas": _V.webhook.replicaCount,
    "pod": when(_V.webhook.separate, _pod(_V.webhook), {}),
    "cert_dir": _V.webhook.certDir,
    "check_interval": first(_V.webhook.certCheckInterval, ""),
    "lookahead_interval": first(_V.webhook.lookaheadInterval, ""),
    "service": when(
        _V.webhook.service.enabled,
        {
            "type": _V.webhook.service.type,
            "labels": first(_V.webhook.service.labels, {}),
            "annotations": first(_V.webhook.service.annotations, {}),
            "load_balancer_ip": first(_V.webhook.service.loadBalancerIP, ""),
        },
        None,
    ),
    "cert_manager": when(
        _V.webhook.certManager.enabled,
        {
            "inject": _V.webhook.certManager.addInjectorAnnotations,
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
    "image": _IMAGE,
    "name": _NAME,
    "app": _APP,
    "namespace": _NAMESPACE,
    "labels": _LABELS,
    "replicas": _V.replicaCount,
    "only_namespace": when(
        _V.scopedRBAC, first(_V.scopedNamespace, _NAMESPACE), first(_V.scopedNamespace, "")
    ),
    "settings": _SETTINGS,
    "flags": merged(
        {"loglevel": _V.log.level, "zap-time-encoding": _V.log.timeEncoding},
        omit(_V.extraArgs, "enable-leader-election", "leader-election-id", "controller-class"),
    ),
    "generic_targets": when(
        _V.genericTargets.enabled,
        [
            {"group": "", "resources": ["configmaps"]},
            each(
                _V.genericTargets.resources, lambda one: {"group": one.apiGroup, "resources": one.resources}
            ),
        ],
        [],
    ),
    "port": _V.metrics.listen.port,
    "health_port": when(_PROBES, When(is_text(_LIVE.httpGet.port), _LIVE.port, _LIVE.httpGet.port), 0),
    "service_account": {
        "create": _V.serviceAccount.create,
        "name": first(_V.serviceAccount.name, When(_V.serviceAccount.create, "", "default")),
        "labels": first(_V.serviceAccount.extraLabels, {}),
        "annotations": first(_V.serviceAccount.annotations, {}),
        "automount": _V.serviceAccount.automount,
    },
    "rbac": {
        "create": _V.rbac.create,
        "tokens": _V.rbac.serviceAccountTokenCreate,
        "finalizers": _V.openshiftFinalizers,
        "reviews": is_true(any_of(_V.systemAuthDelegator, _AUTH.enabled)),
        "view": _V.rbac.aggregateToView,
        "edit": _V.rbac.aggregateToEdit,
        "admin": _V.rbac.aggregateToAdmin,
        "service_bindings": _V.rbac.servicebindings.create,
    },
    "pod": _POD,
    "deployment": {
        "create": _V.createOperator,
        # ESO's own Deployment has the name alone, and a selector that cannot become ours
        "name": text(_NAME, "-controller"),
        "container": "syncret",
        "annotations": first(_V.deploymentAnnotations, {}),
        "revision_history_limit": _V.revisionHistoryLimit,
        "strategy": first(_V.strategy, {}),
    },
    "ip_family_policy": first(_V.service.ipFamilyPolicy, ""),
    "ip_families": first(_V.service.ipFamilies, []),
    "metrics_service": when(
        any_of(_V.metrics.service.enabled, _MONITORED),
        {"port": _V.metrics.service.port, "annotations": first(_V.metrics.service.annotations, {})},
        None,
    ),
    "disruption_budget": when(
        _V.podDisruptionBudget.enabled,
        {
            "name": first(_V.podDisruptionBudget.nameOverride, text(_NAME, "-pdb")),
            "min_available": _V.podDisruptionBudget.minAvailable,
            "max_unavailable": _V.podDisruptionBudget.maxUnavailable,
        },
        None,
    ),
    "network_policy": when(
        _V.networkPolicy.enabled,
        {
            "ingress": when(
                _V.networkPolicy.ingress,
                [
                    Spliced(_V.networkPolicy.ingress),
                    when(
                        _V.webhook.create,
                        {"ports": [{"protocol": "TCP", "port": _V.webhook.port}]},
                    ),
                ],
                [],
            ),
            "egress": first(_V.networkPolicy.egress, []),
        },
        None,
    ),
    "service_monitor": _MONITOR,
    "dashboard": when(
        _V.grafanaDashboard.enabled,
        {
            "labels": merged(
                pair(_V.grafanaDashboard.sidecarLabel, _V.grafanaDashboard.sidecarLabelValue),
                _V.grafanaDashboard.extraLabels,
            ),
            "annotations": first(_V.grafanaDashboard.annotations, {}),
        },
        None,
    ),
    "webhook": when(_V.webhook.create, _WEBHOOK, None),
    "crds": when(
        _V.installCRDs,
        {
            "annotations": first(_V.crds.annotations, {}),
            "serve_v1beta1": _V.crds.unsafeServeV1Beta1,
            "left_out": [when(not_(_V.crds[f"create{kind.kind}"]), kind.kind) for kind in OPTIONAL],
        },
        None,
    ),
    "objects": first(_V.extraObjects, []),
}
