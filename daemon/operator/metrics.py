"""The metrics of the operator."""

import math
from collections import Counter as Counts

from prometheus_client import CollectorRegistry, Counter, Gauge


class OperatorMetrics:
    """Counted up by runs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._reconciles = Counter(
            "syncret_operator_reconciles", "Runs, by what they came to.", ("result",), registry=registry
        )
        self._repairs = Counter(
            "syncret_operator_repairs", "Objects that others had changed.", ("kind",), registry=registry
        )
        self._objects = Gauge(
            "syncret_operator_objects", "Objects that are installed.", ("kind",), registry=registry
        )
        self._ready = Gauge(
            "syncret_operator_ready",
            "Whether everything is installed and available; NaN: nothing is to be.",
            registry=registry,
        )
        self.ended()

    def ran(self, result: str) -> None:
        """A run is over: ready, progressing or failed."""
        self._reconciles.labels(result).inc()
        self._ready.set(result == "ready")

    def ended(self) -> None:
        """There is no configuration."""
        self._ready.set(math.nan)

    def repaired(self, kind: str) -> None:
        """An object was brought back to what is wanted."""
        self._repairs.labels(kind).inc()

    def installed(self, kinds: Counts[str]) -> None:
        """How many objects of each kind there are."""
        self._objects.clear()
        for kind, count in kinds.items():
            self._objects.labels(kind).set(count)
