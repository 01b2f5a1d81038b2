"""Which metrics there are, and which ones a query asks for."""

import re
from typing import Final

from prometheus_client import CollectorRegistry

from syncret.daemon.operator.metrics import OperatorMetrics
from syncret.daemon.ops.metric_families import FAMILIES
from syncret.daemon.ops.metrics import Metrics

_NAME: Final = re.compile(
    r"\b(?:syncret|controller_runtime|workqueue|process|[a-z]*secret[a-z]*)_[a-z_]+(?=[{\[ )]|$)"
)


def known_metrics() -> set[str]:
    """The names that a scrape may have, with those of the parts of histograms."""
    registry: CollectorRegistry = Metrics(lambda: 0.0).registry
    OperatorMetrics(registry)
    others = {
        f"{metric.name}{suffix}"
        for metric in registry.collect()
        for suffix in (("_bucket", "_count", "_sum") if metric.type == "histogram" else ("", "_total"))
    }
    ours = {
        f"{family.name}{suffix}"
        for family in FAMILIES
        for suffix in (("_bucket", "_count", "_sum") if family.type == "histogram" else ("",))
    }
    return ours | others


def metrics_of(query: str) -> set[str]:
    """The names of the metrics that a query asks for."""
    return set(_NAME.findall(re.sub(r'"[^"]*"|\b(?:by|on|without) \([^)]*\)', "", query)))
