"""What stands around the Pods: who may connect to them, who scrapes them, how many may be evicted."""

from collections.abc import Iterator

from syncret.config.meta import Document
from syncret.daemon.install.installation import Installation, MetricsService, NetworkPolicy, ServiceMonitor
from syncret.daemon.install.metadata import named, selector


def traffic(installation: Installation) -> Iterator[Document]:
    """Service, PodDisruptionBudget, NetworkPolicy and ServiceMonitor, as far as they are wanted."""
    if installation.metrics_service is not None:
        yield _service(installation, installation.metrics_service)
    if installation.min_available is not None:
        yield {
            **_head(installation, "policy/v1", "PodDisruptionBudget"),
            "spec": {"minAvailable": installation.min_available, "selector": _pods(installation)},
        }
    if installation.network_policy is not None:
        yield _policy(installation, installation.network_policy)
    if installation.service_monitor is not None:
        yield _monitor(installation, installation.service_monitor)


def _head(installation: Installation, api_version: str, kind: str) -> Document:
    return named(installation, api_version, kind, installation.name, namespace=installation.namespace)


def _pods(installation: Installation) -> Document:
    return {"matchLabels": dict(selector(installation))}


def _service(installation: Installation, wanted: MetricsService) -> Document:
    head = named(
        installation,
        "v1",
        "Service",
        f"{installation.name}-metrics",
        namespace=installation.namespace,
        annotations=wanted.annotations,
    )
    spec: Document = {
        "selector": dict(selector(installation)),
        "ports": [{"name": "metrics", "port": installation.port, "targetPort": "metrics"}],
    }
    if wanted.ip_family_policy:
        spec["ipFamilyPolicy"] = wanted.ip_family_policy
    if wanted.ip_families:
        spec["ipFamilies"] = list(wanted.ip_families)
    return {**head, "spec": spec}


def _policy(installation: Installation, wanted: NetworkPolicy) -> Document:
    rule: Document = {"ports": [{"port": installation.port, "protocol": "TCP"}]}
    if wanted.clients:
        rule["from"] = list(wanted.clients)
    return {
        **_head(installation, "networking.k8s.io/v1", "NetworkPolicy"),
        "spec": {
            "podSelector": _pods(installation),
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [rule],
            "egress": list(wanted.egress) or [{}],
        },
    }


def _monitor(installation: Installation, wanted: ServiceMonitor) -> Document:
    head = named(
        installation,
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        installation.name,
        namespace=wanted.namespace or installation.namespace,
        labels=wanted.labels,
    )
    endpoint = {
        "port": "metrics",
        "path": "/metrics",
        "interval": wanted.interval,
        "scrapeTimeout": wanted.scrape_timeout,
        **wanted.endpoint,
    }
    return {
        **head,
        "spec": {
            "namespaceSelector": {"matchNames": [installation.namespace]},
            "selector": _pods(installation),
            "endpoints": [endpoint],
        },
    }
