"""The objects around the Pods: who may connect to them, who scrapes them, how many may be evicted."""

import json
from typing import Final

from syncret.daemon.dashboard.grafana import dashboard
from syncret.daemon.install.metadata import SELECTOR, i, named, suffixed
from syncret.daemon.install.outline.nodes import (
    SPLICE,
    File,
    Outline,
    first,
    given,
    not_,
    present,
    when,
)
from syncret.daemon.install.webhook import SERVED

_PODS: Final = {"matchLabels": SELECTOR}

_SERVICE: Final = when(
    i.metrics_service,
    {
        **named("v1", "Service", suffixed("metrics"), annotations=i.metrics_service.annotations),
        "spec": {
            "type": "ClusterIP",
            "selector": SELECTOR,
            "ports": [
                {
                    "name": "metrics",
                    "port": first(i.metrics_service.port, i.port),
                    "targetPort": "metrics",
                    "protocol": "TCP",
                }
            ],
            "ipFamilyPolicy": given(i.ip_family_policy),
            "ipFamilies": given(i.ip_families),
        },
    },
)

_BUDGET: Final = when(
    i.disruption_budget,
    {
        **named("policy/v1", "PodDisruptionBudget", first(i.disruption_budget.name, i.name)),
        "spec": {
            "maxUnavailable": when(
                present(i.disruption_budget.max_unavailable), i.disruption_budget.max_unavailable
            ),
            "minAvailable": when(
                not_(present(i.disruption_budget.max_unavailable)), i.disruption_budget.min_available
            ),
            "selector": _PODS,
        },
    },
)


def _port(number: Outline) -> dict[str, Outline]:
    return {"port": number, "protocol": "TCP"}


_INGRESS: Final[Outline] = [
    {
        "ports": [_port(i.port), when(i.health_port, _port(i.health_port))],
        "from": given(i.network_policy.clients),
    },
    when(SERVED, {"ports": [_port(i.webhook.port)]}),  # where API servers are is not known
]
_POLICY: Final = when(
    i.network_policy,
    {
        **named("networking.k8s.io/v1", "NetworkPolicy", i.name),
        "spec": {
            "podSelector": _PODS,
            "policyTypes": ["Ingress", "Egress"],
            "ingress": when(i.network_policy.ingress, i.network_policy.ingress, _INGRESS),
            "egress": when(i.network_policy.egress, i.network_policy.egress, [{}]),
        },
    },
)

_MONITOR: Final = when(
    i.service_monitor,
    {
        **named(
            "monitoring.coreos.com/v1",
            "ServiceMonitor",
            i.name,
            namespace=first(i.service_monitor.namespace, i.namespace),
            labels=i.service_monitor.labels,
        ),
        "spec": {
            "namespaceSelector": {"matchNames": [i.namespace]},
            "selector": _PODS,
            "endpoints": [
                {
                    "port": "metrics",
                    "path": "/metrics",
                    "interval": i.service_monitor.interval,
                    "scrapeTimeout": i.service_monitor.scrape_timeout,
                    SPLICE: i.service_monitor.endpoint,
                }
            ],
        },
    },
)

_DASHBOARD: Final = when(
    i.dashboard,
    {
        **named(
            "v1",
            "ConfigMap",
            suffixed("dashboard"),
            labels=i.dashboard.labels,
            annotations=i.dashboard.annotations,
        ),
        "data": {"syncret.json": File("dashboard.json", json.dumps(dashboard(), indent=2) + "\n")},
    },
)

TRAFFIC: Final = (_SERVICE, _BUDGET, _POLICY, _MONITOR, _DASHBOARD)
"""Service, PodDisruptionBudget, NetworkPolicy, ServiceMonitor and dashboard, as far as they are wanted."""
