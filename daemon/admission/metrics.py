"""controller-runtime's metrics of a webhook, by path."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from syncret.daemon.core.webhook_names import PATHS

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WebhookMetrics:
    """The three metrics, exported with those of a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "controller_runtime_webhook_requests",
            "Reviews that were answered, by HTTP status.",
            ("webhook", "code"),
            registry=registry,
        )
        self._in_flight = Gauge(
            "controller_runtime_webhook_requests_in_flight",
            "Reviews that are being answered.",
            ("webhook",),
            registry=registry,
        )
        self._latency = Histogram(
            "controller_runtime_webhook_latency_seconds",
            "Duration of reviews.",
            ("webhook",),
            registry=registry,
            buckets=_SECONDS,
        )
        for path in PATHS:
            for code in ("200", "500"):
                self._requests.labels(path, code)
            self._in_flight.labels(path)
            self._latency.labels(path)

    @contextmanager
    def under_way(self, path: str) -> Generator[None]:
        """Counts a review as being answered within the block."""
        with self._in_flight.labels(path).track_inprogress():
            yield

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a review."""
        self._requests.labels(path, str(status)).inc()
        self._latency.labels(path).observe(seconds)
