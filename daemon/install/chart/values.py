"""The values of the chart: those of ESO's chart, with its names and mostly its defaults."""

from typing import Final

from syncret.config.resources.kinds import (
    CLUSTER_EXTERNAL_SECRET,
    CLUSTER_GENERATOR,
    CLUSTER_PUSH_SECRET,
    CLUSTER_SECRET_STORE,
    PUSH_SECRET,
    SECRET_STORE,
)
from syncret.daemon.install.chart.keys import (
    Key,
    Keys,
    Open,
    document,
    documents,
    integer,
    names,
    no,
    text,
    texts,
    without_effect,
    yes,
)
from syncret.daemon.install.chart.pods import CERT_CONTROLLER, PODS, WEBHOOK_PODS

LEVELS: Final = ("debug", "info", "warn", "warning", "error", "dpanic", "panic", "fatal")
_TIMES: Final = ("epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano")
_DURATION: Final = "such as 5m"
_KEEP: Final = {"helm.sh/resource-policy": "keep"}

_GLOBAL: Final[Keys] = Open(
    nodeSelector=texts("For all Pods, where `nodeSelector` is empty."),
    tolerations=documents("For all Pods, where `tolerations` is empty."),
    topologySpreadConstraints=documents("For all Pods, where `topologySpreadConstraints` is empty."),
    affinity=document("For all Pods, where `affinity` is empty."),
    hostAliases=documents("For all Pods, where `hostAliases` is empty."),
    podLabels=texts("For all Pods, where `podLabels` is empty."),
    podAnnotations=texts("For all Pods, where `podAnnotations` is empty."),
    imagePullSecrets=documents("For all Pods, where `imagePullSecrets` is empty."),
    repository=text("", "The repository of the image, instead of `image.repository`."),
    compatibility={
        "openshift": {
            "adaptSecurityContext": text(
                "auto",
                "Leave users and groups of security contexts to OpenShift: always (force), never "
                "(disabled), or where the cluster is one (auto).",
                *("auto", "force", "disabled"),
            )
        }
    },
)

OPTIONAL: Final = (
    *(CLUSTER_EXTERNAL_SECRET, CLUSTER_SECRET_STORE, SECRET_STORE),
    *(CLUSTER_GENERATOR, CLUSTER_PUSH_SECRET, PUSH_SECRET),
)
"""The kinds whose CRDs may be left out one by one."""

_CRDS: Final[Keys] = {
    **{f"create{kind.kind}": yes(f"Install the CRD of {kind.kind}.") for kind in OPTIONAL},
    "annotations": texts(
        "Annotations of the CRDs. By default they, and with them all objects, survive `helm uninstall`.",
        _KEEP,
    ),
    "conversion": {
        "enabled": without_effect(no(""), "No effect: no version is converted."),
    },
    "unsafeServeV1Beta1": no("Serve external-secrets.io/v1beta1, too."),
}

_ELECTION: Final[Keys] = {
    "enabled": no("As leaderElect."),
    "id": text("", "As leaderElectionID."),
    "namespace": text("", "Namespace of the Lease; empty: that of the release."),
    "leaseDuration": text("", f"As leaderElectionLeaseDuration, {_DURATION}."),
    "renew": text("", "How often the active replica renews the Lease; empty: 2s."),
}

_METRICS: Final[Keys] = {
    "listen": {
        "port": integer(8080, "The port of /metrics.", least=1),
        "auth": {
            "enabled": no("Metrics for those alone whom the cluster lets read them; needs `secure.enabled`.")
        },
        "secure": {
            "enabled": no("Metrics by TLS, with files that extraVolumes mount."),
            "certDir": text("/etc/tls", "The folder of the certificate and its key; none is made (ESO: is)."),
            "certFile": text("/etc/tls/tls.crt", "The certificate, with what signed it."),
            "keyFile": text("/etc/tls/tls.key", "Its key."),
        },
    },
    "service": {
        "enabled": no("Whether there is a Service for metrics; a ServiceMonitor brings it, too."),
        "port": integer(8080, "The port of the Service.", least=1),
        "annotations": texts("Annotations of the Service."),
    },
}

_CERTIFICATE: Final[Keys] = {
    "create": yes("Make a Certificate; else its Secret is expected to exist."),
    "issuerRef": document(
        "Who issues it.", {"group": "cert-manager.io", "kind": "Issuer", "name": "my-issuer"}
    ),
    "duration": text("8760h0m0s", "How long a certificate lasts."),
    "revisionHistoryLimit": integer(0, "How many CertificateRequests are kept; 0: all."),
    "renewBefore": text("", "How long before its end it is renewed."),
    "privateKey": document("How its private key is made."),
    "signatureAlgorithm": text("", "How it is signed."),
    "annotations": texts("Annotations of the Certificate."),
}

_WEBHOOK: Final[Keys] = {
    **WEBHOOK_PODS,
    "create": yes("Whether objects are validated on admission; never in one namespace alone."),
    "separate": no("Whether the webhook and its certificates have Deployments of their own, as ESO's."),
    "annotations": texts("Annotations of the ValidatingWebhookConfigurations."),
    "failurePolicy": text(
        "Ignore",
        "What the API server does if no replica answers (ESO's chart: Fail). CRDs and syncs refuse the same.",
        *("Ignore", "Fail"),
    ),
    "port": integer(10250, "The port of the webhook.", least=1),
    "certDir": text("/tmp/certs", "Where files of the certificate are mounted, if they are."),  # noqa: S108
    "certCheckInterval": text("5m", "How often the certificate is looked at."),
    "lookaheadInterval": text("", "How long before its end it is renewed; empty: 30 days."),
    "secretAnnotations": texts("Annotations of the Secret with the certificate."),
    "service": {
        "enabled": yes("Whether the Service is made; else it is expected to exist."),
        "annotations": texts("Annotations of the Service."),
        "labels": texts("Labels of the Service."),
        "type": text("ClusterIP", "The type of the Service.", "ClusterIP", "NodePort", "LoadBalancer"),
        "loadBalancerIP": text("", "The address of a Service of type LoadBalancer."),
    },
    "certManager": {
        "enabled": no("Let cert-manager, which must be installed, make the certificate."),
        "addInjectorAnnotations": yes("Let it put its authority into the webhook configurations."),
        "cert": _CERTIFICATE,
    },
}

VALUES: Final[Keys] = {
    "image": {
        "repository": text(
            "", "The image without its tag. It has no default: push it to a registry of yours."
        ),
        "tag": text("", "The tag; empty: the version of syncret that the chart is of."),
        "pullPolicy": text("IfNotPresent", "When the image is pulled.", "Always", "IfNotPresent", "Never"),
        "flavour": without_effect(text("", ""), "No effect: there is one image."),
    },
    "imagePullSecrets": documents("Secrets to pull the image with, as {name: NAME}."),
    "nameOverride": text("", "Name of the application, in labels and in FULLNAME; empty: syncret."),
    "fullnameOverride": text(
        "", "FULLNAME, the beginning of all names; empty: that of the release, and syncret."
    ),
    "namespaceOverride": text("", "Where the objects go; empty: the namespace of the release."),
    "commonLabels": texts("Labels of all objects."),
    "replicaCount": integer(1, "How many replicas; with several one is active, and the others take over."),
    "revisionHistoryLimit": integer(10, "How many ReplicaSets are kept."),
    "createOperator": yes("Whether the Deployment is made."),
    "installCRDs": yes("Whether the CRDs are part of the release."),
    "crds": _CRDS,
    "leaderElect": no("Take part in the election with a single replica, too: beside an ESO that does."),
    "leaderElectionID": text("", "The Lease; empty: ESO's, and for another class syncret-CLASS."),
    "leaderElectionLeaseDuration": text(
        "", "How long a replica that is silent stays the active one; empty: 10s."
    ),
    "leaderElectionRenewDeadline": without_effect(
        text("", ""), "No effect: the active one stops 2 s before its end."
    ),
    "leaderElectionRetryPeriod": text("", "As leaderElection.renew."),
    "leaderElection": _ELECTION,
    "controllerClass": text("", "Only stores of this class are handled; empty: default."),
    "extendedMetricLabels": no("Add the app.kubernetes.io labels of each object to its metrics."),
    "scopedNamespace": text("", "The only namespace to work in, by Roles; empty: all."),
    "scopedRBAC": no(
        "Work in scopedNamespace alone, or else in that of the release, without any cluster-scoped kind.",
    ),
    "openshiftFinalizers": yes("Rights on /finalizers, which OpenShift asks for."),
    "systemAuthDelegator": no("Bind the account to system:auth-delegator."),
    "processClusterExternalSecret": yes("Handle ClusterExternalSecrets."),
    "processClusterPushSecret": yes("Handle ClusterPushSecrets."),
    "processClusterStore": yes("Handle ClusterSecretStores."),
    "processSecretStore": yes("Handle SecretStores."),
    "processClusterGenerator": yes("Read ClusterGenerators."),
    "processPushSecret": yes("Handle PushSecrets."),
    "storeRequeueInterval": text("", "How often a store is checked; empty: 5m."),
    "genericTargets": {
        "enabled": no("Let ExternalSecrets write ConfigMaps and the resources below."),
        "resources": Key(
            [],
            "More resources, as {apiGroup: GROUP, resources: [PLURAL]}; `verbs` has no effect.",
            {
                "type": "array",
                "items": {"type": "object", "required": ["apiGroup", "resources"]},
            },
        ),
    },
    "exports": {
        "enabled": yes("Carry out what resources of other operators export."),
        "groups": names("API groups of these resources; empty: Azure Service Operator's."),
        "refreshInterval": text("", "How often their secrets are read again; empty: 1h."),
    },
    "log": {
        "level": text("info", "The least severe messages that are logged.", *LEVELS),
        "timeEncoding": text("epoch", "How log lines write the time.", *_TIMES),
    },
    "observe": no("Write nothing, and say what would be written: beside an ESO that runs."),
    "migration": {
        "namespace": text("", "The namespace in which an ESO runs, if it is another one."),
        "force": no("Work although an ESO writes statuses of our objects."),
    },
    "apiWrites": integer(
        0, "How many writes to the API server may be under way; 0: as many as serve it best."
    ),
    "externalSecretFinalizer": text("", "Which ExternalSecrets get ESO's finalizer.", "", "needed", "always"),
    "ownIdentity": document("Where the daemon's own identity may go: {mode, receivers, clusterOnly, azure}."),
    "egress": document("Which servers stores may reach: {allow, deny}."),
    "manifestFiles": names("Folders below which a manifest may name a file."),
    "workTime": text("", "Work that one sync may take; empty: 1s."),
    "workMemory": integer(0, "Bytes that one sync may make; 0: 64000000."),
    "storeWaits": integer(0, "How many objects of all stores may be in progress; 0: 4096."),
    "serviceAccount": {
        "create": yes("Whether the account is made."),
        "automount": yes("Whether its token is mounted."),
        "annotations": texts("Annotations of the account."),
        "extraLabels": texts("Labels of the account."),
        "name": text("", "Its name; empty: FULLNAME, or `default` if it is not made."),
    },
    "rbac": {
        "create": yes("Whether roles are made."),
        "serviceAccountTokenCreate": yes("Rights to issue tokens of ServiceAccounts, for stores."),
        "servicebindings": {"create": yes("A role for controllers of service bindings.")},
        "aggregateToView": yes("Extend Kubernetes' role view to our kinds."),
        "aggregateToEdit": yes("Extend the role edit."),
        "aggregateToAdmin": yes("Extend the role admin."),
    },
    **PODS,
    "service": {
        "ipFamilyPolicy": text("", "Of all Services."),
        "ipFamilies": names("Of all Services: IPv4, IPv6."),
    },
    "metrics": _METRICS,
    "serviceMonitor": {
        "enabled": no("Whether there is a ServiceMonitor."),
        "renderMode": text(
            "skipIfMissing",
            "What to do where its CRD is missing.",
            *("skipIfMissing", "failIfMissing", "alwaysRender"),
        ),
        "namespace": text("", "Its namespace; empty: that of the release."),
        "additionalLabels": texts("More labels of it."),
        "interval": text("30s", "How often metrics are scraped."),
        "scrapeTimeout": text("25s", "How long a scrape may take."),
        "honorLabels": no("Whether labels of metrics stay as they are."),
        "metricRelabelings": documents("Changes of labels after the scrape."),
        "relabelings": documents("Changes of labels before the scrape."),
    },
    "grafanaDashboard": {
        "enabled": no("Whether there is a ConfigMap with a dashboard."),
        "sidecarLabel": text("grafana_dashboard", "The label by which Grafana's sidecar finds it."),
        "sidecarLabelValue": text("1", "The value of this label."),
        "annotations": texts("Annotations of the ConfigMap."),
        "extraLabels": texts("More labels of the ConfigMap."),
    },
    "networkPolicy": {
        "enabled": no("Whether there is a NetworkPolicy."),
        "ingress": Key(
            [{"ports": [{"protocol": "TCP", "port": 8080}, {"protocol": "TCP", "port": 8082}]}],
            "Who may connect; empty: all peers, to the ports of the Pods.",
            {"type": "array", "items": {"type": "object"}},
        ),
        "egress": documents("Where the daemon may connect to; empty: anywhere (ESO's chart: nowhere)."),
    },
    "webhook": _WEBHOOK,
    "certController": CERT_CONTROLLER,
    "bitwarden-sdk-server": {
        "enabled": without_effect(no(""), "No effect: install its own chart where stores need it."),
        "namespaceOverride": without_effect(text("", ""), "No effect."),
    },
    "enableHTTP2": without_effect(no(""), "No effect: HTTP/1.1 is spoken."),
    "concurrent": without_effect(integer(1, ""), "No effect: apiWrites bounds it."),
    "vault": {
        "enableTokenCache": without_effect(no(""), "No effect: sessions keep their clients."),
        "tokenCacheSize": without_effect(integer(262144, ""), "No effect."),
    },
    "global": _GLOBAL,
    "extraObjects": documents("More objects, as they are: they are no templates."),
}
"""Every key, in the order of values.yaml."""
