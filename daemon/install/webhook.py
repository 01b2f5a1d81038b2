"""The admission webhook of an installation: configurations, Service, certificate, rights, Deployments."""

from collections.abc import Sequence
from typing import Final

from syncret.config.resources.kinds import Kind
from syncret.daemon.core.webhook_names import COMPONENT, CONFIGURATIONS, CRDS, PATHS, WEBHOOK
from syncret.daemon.install.metadata import ACCOUNT, AUTHORIZATION, SELECTOR, i, named, spread, suffixed
from syncret.daemon.install.outline.nodes import (
    SPLICE,
    Outline,
    Spliced,
    When,
    all_of,
    any_of,
    as_text,
    each,
    first,
    given,
    item,
    merged,
    not_,
    text,
    when,
)
from syncret.daemon.install.roles import EVENTS, rule

HEALTH_PORT: Final = 8081

SERVED: Final = all_of(i.webhook, any_of(not_(i.only_namespace), i.webhook.separate))
"""Whether there is a webhook: a daemon of one namespace cannot maintain cluster-wide configurations."""

_ALONE: Final = all_of(SERVED, i.webhook.separate)
_KEPT: Final = all_of(SERVED, not_(i.webhook.cert_manager))
"""Whether we make the certificate."""

_NAME: Final = suffixed("webhook")
_KEEPER: Final = suffixed("cert-controller")
_PLACE: Final = text(i.namespace, "/", i.name, "-webhook")
_STORED: Final = first(i.webhook.secret, text(i.name, "-webhook"))
"""The Secret with the certificate."""
_LABEL: Final[Outline] = {COMPONENT: WEBHOOK}


def _settings(*pairs: tuple[Outline, Outline]) -> list[Outline]:
    return [each for name, value in pairs for each in ("--set", text(name, "=", value))]


def _if_set(name: str, value: Outline) -> Outline:
    return when(value, Spliced(_settings((name, value))))


_INTERVALS: Final = [_if_set("webhook.checkInterval", i.webhook.check_interval)]
_LOOKAHEAD: Final = [_if_set("webhook.lookaheadInterval", i.webhook.lookahead_interval)]
_PLACES: Final = _settings(("webhook.service", _PLACE), ("webhook.secret", text(i.namespace, "/", _STORED)))

ARGUMENTS: Final[Sequence[Outline]] = [
    when(_ALONE, Spliced(["--only", "controller"])),
    when(
        all_of(SERVED, not_(i.webhook.separate)),
        Spliced(
            [
                *_settings(("webhook.enabled", "true"), ("webhook.port", as_text(i.webhook.port))),
                *_PLACES,
                *_INTERVALS,
                *_LOOKAHEAD,
                when(i.webhook.cert_manager, Spliced(_settings(("webhook.certDir", i.webhook.cert_dir)))),
            ]
        ),
    ),
]
"""What the controller is started with."""

_VOLUME: Final = "webhook-certificate"
_MOUNTED: Final = all_of(SERVED, not_(i.webhook.separate), i.webhook.cert_manager)
_MOUNT: Final[Outline] = {"name": _VOLUME, "mountPath": i.webhook.cert_dir, "readOnly": True}
_CERTIFICATE: Final[Outline] = {
    "name": _VOLUME,
    # the keys of authorities stay out of it
    "secret": {"secretName": _STORED, "items": [{"key": key, "path": key} for key in ("tls.crt", "tls.key")]},
}
MOUNTS: Final = when(_MOUNTED, _MOUNT)
VOLUMES: Final = when(_MOUNTED, _CERTIFICATE)
"""cert-manager's files in the controller's Pods."""


def _port(name: str, number: Outline) -> Outline:
    return {"name": name, "containerPort": number, "protocol": "TCP"}


PORTS: Final = when(all_of(SERVED, not_(i.webhook.separate)), _port("webhook", i.webhook.port))


def _webhook(kind: Kind) -> Outline:
    (path,) = (path for path, named_kind in PATHS.items() if named_kind == kind.group_kind)
    return {
        "name": f"validate.{kind.kind.lower()}.{kind.group}",
        "clientConfig": {"service": {"namespace": i.namespace, "name": _NAME, "path": path}},
        "rules": [
            {
                "apiGroups": [kind.group],
                "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": [kind.plural],
                "scope": "Namespaced" if kind.namespaced else "Cluster",
            }
        ],
        "admissionReviewVersions": ["v1", "v1beta1"],
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "failurePolicy": i.webhook.failure_policy,
    }


_INJECTED: Final = When(
    all_of(i.webhook.cert_manager, i.webhook.cert_manager.inject),
    {"cert-manager.io/inject-ca-from": _PLACE},
    {},
)


def _configuration(name: str, kinds: Sequence[Kind]) -> Outline:
    head = named(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        name,
        namespace=None,
        labels=_LABEL,
        annotations=merged(i.webhook.annotations, _INJECTED),
    )
    return when(SERVED, {**head, "webhooks": [_webhook(kind) for kind in kinds]})


def _selector(component: str) -> dict[str, Outline]:
    return {**SELECTOR, "app.kubernetes.io/name": text(i.app, f"-{component}")}


_METRICS: Final[Outline] = {
    "name": "metrics",
    "port": first(i.metrics_service.port, i.port),
    "targetPort": "metrics",
    "protocol": "TCP",
}
_KEEPER_METRICS: Final[Outline] = {
    **named(
        "v1", "Service", text(i.name, "-cert-controller-metrics"), annotations=i.metrics_service.annotations
    ),
    "spec": {
        "type": "ClusterIP",
        "selector": _selector("cert-controller"),
        "ports": [_METRICS],
        "ipFamilyPolicy": given(i.ip_family_policy),
        "ipFamilies": given(i.ip_families),
    },
}
_SECRET: Final = when(
    _KEPT,
    {
        **named("v1", "Secret", _STORED, labels=_LABEL, annotations=i.webhook.secret_annotations),
        "type": "Opaque",  # without data: the daemon fills it
    },
)
_SERVICE: Final = when(
    all_of(SERVED, i.webhook.service),
    {
        **named(
            "v1",
            "Service",
            _NAME,
            labels=merged(_LABEL, i.webhook.service.labels),
            annotations=i.webhook.service.annotations,
        ),
        "spec": {
            "type": i.webhook.service.type,
            "loadBalancerIP": given(i.webhook.service.load_balancer_ip),
            "selector": When(i.webhook.separate, _selector("webhook"), SELECTOR),
            "ports": [
                {"name": "webhook", "port": 443, "targetPort": "webhook", "protocol": "TCP"},
                when(all_of(i.webhook.separate, i.metrics_service), _METRICS),
            ],
            "ipFamilyPolicy": given(i.ip_family_policy),
            "ipFamilies": given(i.ip_families),
        },
    },
)
_BY_CERT_MANAGER: Final = when(
    all_of(SERVED, i.webhook.cert_manager, i.webhook.cert_manager.create),
    {
        **named(
            "cert-manager.io/v1",
            "Certificate",
            _NAME,
            labels=_LABEL,
            annotations=i.webhook.cert_manager.annotations,
        ),
        "spec": {
            "commonName": _NAME,
            "dnsNames": [
                _NAME,
                text(i.name, "-webhook.", i.namespace),
                text(i.name, "-webhook.", i.namespace, ".svc"),
            ],
            "issuerRef": i.webhook.cert_manager.issuer,
            "secretName": _STORED,
            SPLICE: i.webhook.cert_manager.spec,
        },
    },
)


def _role(kind: str, rules: Sequence[Outline], namespace: Outline) -> list[Outline]:
    """The rights of the process that makes the certificates."""
    subject = When(i.webhook.separate, _KEEPER, ACCOUNT)
    name = When(i.webhook.separate, _KEEPER, _NAME)
    return [
        {**named(AUTHORIZATION, kind, name, namespace=namespace), "rules": rules},
        {
            **named(AUTHORIZATION, f"{kind}Binding", name, namespace=namespace),
            "roleRef": {"apiGroup": AUTHORIZATION.partition("/")[0], "kind": kind, "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": subject, "namespace": i.namespace}],
        },
    ]


_RECORDS_EVENTS: Final = _role("Role", [EVENTS], "default")
"""Events of cluster-scoped objects are in the namespace default."""
_WRITE: Final = ("get", "update")
_RIGHTS: Final = _role(
    "ClusterRole",
    [
        rule(
            "admissionregistration.k8s.io",
            ("validatingwebhookconfigurations",),
            _WRITE,
            tuple(CONFIGURATIONS),
        ),
        rule("apiextensions.k8s.io", ("customresourcedefinitions",), _WRITE, CRDS),
    ],
    None,
)
_OWN_SECRET: Final = _role("Role", [rule("", ("secrets",), _WRITE, (_STORED,))], i.namespace)
"""The right to write this one Secret, for a separate cert-controller; the controller may write all."""


def _deployment(component: str, arguments: Sequence[Outline], *, asks: bool, **members: Outline) -> Outline:
    """A Deployment of one container; with `asks` it talks to the API server."""
    pod = i.webhook.pod
    by_name: dict[str, Outline] = {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"}
    own: list[Outline] = [
        {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}
        for name, path in by_name.items()
    ]
    probe = {"port": "live", "scheme": "HTTP"}
    container: dict[str, Outline] = {
        "name": component,
        "image": i.image,
        "imagePullPolicy": pod.pull_policy,
        "args": [
            "run",
            "--kubernetes",
            "--only",
            *arguments,
            *_settings(("listen", text(":", as_text(i.port)))),
            *(_if_set(name, item(i.settings, name)) for name in ("logFormat", "logLevel", "logTime")),
        ],
        "env": [
            *(own if asks else []),
            *({"name": f"SYNCRET_{name}", "value": ""} for name in ("MANIFESTS", "OUTPUT_DIR")),
            Spliced(pod.env),
        ],
        "ports": [
            *([_port("webhook", i.webhook.port)] if component == WEBHOOK else []),
            _port("metrics", i.port),
            _port("live", HEALTH_PORT),
        ],
        "livenessProbe": {"httpGet": {"path": "/healthz", **probe}, "periodSeconds": 10, "timeoutSeconds": 5},
        "readinessProbe": {"httpGet": {"path": "/readyz", **probe}, "periodSeconds": 10, "timeoutSeconds": 5},
        "resources": given(pod.resources),
        "securityContext": given(pod.container_security_context),
        "volumeMounts": [*([_MOUNT] if component == WEBHOOK else []), Spliced(pod.volume_mounts)],
    }
    spec: dict[str, Outline] = {
        "serviceAccountName": suffixed(component),
        "automountServiceAccountToken": asks,
        "enableServiceLinks": False,
        "securityContext": given(pod.security_context),
        "imagePullSecrets": when(pod.pull_secrets, [each(pod.pull_secrets, lambda name: {"name": name})]),
        "initContainers": given(pod.init_containers),
        "containers": [container, Spliced(pod.containers)],
        "volumes": [*([_CERTIFICATE] if component == WEBHOOK else []), Spliced(pod.volumes)],
        "topologySpreadConstraints": spread(pod.spread, _selector(component)),
        SPLICE: pod.spec,
    }
    return {
        **named("apps/v1", "Deployment", suffixed(component)),
        "spec": {
            "replicas": 1,
            **members,
            "selector": {"matchLabels": _selector(component)},
            "template": {
                "metadata": {
                    "labels": merged(i.labels, pod.labels, _selector(component)),
                    "annotations": given(pod.annotations),
                },
                "spec": spec,
            },
        },
    }


_SERVES: Final = _deployment(
    "webhook",
    [
        "webhook",
        *_settings(
            ("webhook.port", as_text(i.webhook.port)),
            ("webhook.dnsName", text(i.name, "-webhook.", i.namespace, ".svc")),
            ("webhook.certDir", i.webhook.cert_dir),
        ),
        *_INTERVALS,
    ],
    asks=False,
    replicas=i.webhook.replicas,
)
_KEEPS: Final = _deployment(
    "cert-controller",
    ["certificates", *_PLACES, *_INTERVALS, *_LOOKAHEAD],
    asks=True,
    strategy={"type": "Recreate"},
)
_KEEPS_ALONE: Final = all_of(_ALONE, not_(i.webhook.cert_manager))

OBJECTS: Final[Sequence[Outline]] = (
    *(when(all_of(i.rbac.create, _KEPT), one) for one in _RIGHTS),
    *(when(all_of(i.rbac.create, _KEEPS_ALONE), one) for one in (*_OWN_SECRET, *_RECORDS_EVENTS)),
    when(_ALONE, named("v1", "ServiceAccount", _NAME)),
    when(_KEEPS_ALONE, named("v1", "ServiceAccount", _KEEPER)),
    _SECRET,
    _BY_CERT_MANAGER,
    _SERVICE,
    when(_ALONE, _SERVES),
    when(_KEEPS_ALONE, _KEEPS),
    when(all_of(_KEEPS_ALONE, i.metrics_service), _KEEPER_METRICS),
    *(_configuration(name, kinds) for name, kinds in CONFIGURATIONS.items()),
)
"""Everything but the container of the controller, which `ARGUMENTS`, `PORTS` and `VOLUMES` are for."""
