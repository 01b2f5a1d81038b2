"""Prometheus metrics: the External Secrets operator's names where it has one, `syncret_` for what is ours.

What is told of each object is kept as one small record and turned into samples only when somebody scrapes; the
record, and with it every series of the object, goes when the object goes. Beyond `limit` objects only totals are
told, so that a scrape stays bounded.
"""

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.contract import Failure
from syncret.daemon.engine.observer import Call, Run, Silent
from syncret.daemon.engine.workqueue import QueueStats
from syncret.providers.errors import SyncError
from syncret.providers.kit.retry import Retry

WAITS: Final = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0)
SUBSYSTEMS: Final = {
    "ExternalSecret": "externalsecret",
    "PushSecret": "pushsecret",
    "SecretStore": "secretstore",
    "ClusterSecretStore": "clustersecretstore",
    "ClusterExternalSecret": "clusterexternalsecret",
    "ClusterPushSecret": "clusterpushsecret",
}


class _Record:
    """What is told of one object."""

    __slots__ = ("errors", "good_since", "next_due", "ready", "runs", "seconds")

    def __init__(self) -> None:
        self.runs = 0
        self.errors = 0
        self.seconds = 0.0
        self.ready: bool | None = None
        self.good_since: float | None = None
        self.next_due: float | None = None


class _Objects(Collector):
    """Makes samples of the records, one family of series for each metric and kind."""

    def __init__(self, records: dict[ObjectRef, _Record], now: Callable[[], float], limit: int) -> None:
        self._records = records
        self._now = now
        self._limit = limit

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing up front: the families depend on which kinds there are."""
        return iter(())

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """All samples of all objects."""
        shown = list(self._records.items())[: self._limit]
        yield GaugeMetricFamily("syncret_objects", "Objects that the daemon looks after.", value=len(self._records))
        yield GaugeMetricFamily(
            "syncret_objects_untold", "Objects left out of the series below, by the limit.", value=len(self._records) - len(shown)
        )
        for kind, subsystem in SUBSYSTEMS.items():
            of_kind = [(ref, record) for ref, record in shown if ref.kind == kind]
            if of_kind:
                yield from self._kind(subsystem, of_kind)
        yield from self._ages([(ref, record) for ref, record in shown if ref.kind in SUBSYSTEMS])

    def _kind(self, subsystem: str, of_kind: list[tuple[ObjectRef, _Record]]) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        labels = ["name", "namespace"]
        calls = CounterMetricFamily(f"{subsystem}_sync_calls", "Reconciles of the object.", labels=labels)
        errors = CounterMetricFamily(f"{subsystem}_sync_calls_error", "Reconciles of the object that failed.", labels=labels)
        duration = GaugeMetricFamily(f"{subsystem}_reconcile_duration", "Nanoseconds that the last reconcile took.", labels=labels)
        condition = GaugeMetricFamily(
            f"{subsystem}_status_condition", "The status condition of the object.", labels=[*labels, "condition", "status"]
        )
        for ref, record in of_kind:
            named = [ref.name, ref.namespace]
            calls.add_metric(named, record.runs)
            errors.add_metric(named, record.errors)
            duration.add_metric(named, record.seconds * 1e9)
            if record.ready is not None:
                condition.add_metric([*named, "Ready", "True"], float(record.ready))
                condition.add_metric([*named, "Ready", "False"], float(not record.ready))
        yield from (calls, errors, duration, condition)

    def _ages(self, shown: list[tuple[ObjectRef, _Record]]) -> Iterator[GaugeMetricFamily]:
        labels, now = ["kind", "name", "namespace"], self._now()
        age = GaugeMetricFamily("syncret_value_age_seconds", "Age of the value in use: time since it was last known good.", labels=labels)
        due = GaugeMetricFamily("syncret_next_due_timestamp_seconds", "When the object is looked at next.", labels=labels)
        for ref, record in shown:
            named = [ref.kind, ref.name, ref.namespace]
            if record.good_since is not None:
                age.add_metric(named, max(0.0, now - record.good_since))
            if record.next_due is not None:
                due.add_metric(named, record.next_due)
        yield from (age, due)


class Metrics(Silent):
    """All metrics of one daemon, with a registry of their own."""

    def __init__(self, now: Callable[[], float], *, limit: int = 20_000) -> None:
        self.registry = CollectorRegistry()
        self._now = now
        self._records: dict[ObjectRef, _Record] = {}
        self.registry.register(_Objects(self._records, now, limit))
        counter, gauge, histogram = self._makers()
        self._calls = counter("externalsecret_provider_api_calls_count", "Calls to secret managers.", "provider", "call", "status")
        self._call_seconds = histogram("syncret_provider_call_seconds", "How long calls to secret managers took.", "provider", "call")
        self._shared = counter("syncret_reads_shared", "Reads that joined one under way for the same key.", "store")
        self._retried = counter("syncret_provider_retries", "Calls that were tried again.", "store")
        self._throttled = counter("syncret_provider_throttled", "Times a secret manager asked for fewer calls.", "store")
        self._bucket = histogram("syncret_bucket_wait_seconds", "How long calls waited for their store's token bucket.", "store")
        self._clients = gauge("syncret_clients_open", "Open clients of secret managers.", "store")
        self._queue_wait = histogram("syncret_queue_wait_seconds", "How long objects that were due waited for a worker.")
        self._bugs = counter("syncret_bugs", "Runs that ended by an unforeseen error.")

    def _makers(self) -> tuple[Callable[..., Counter], Callable[..., Gauge], Callable[..., Histogram]]:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, registry=self.registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(name, text, labels, registry=self.registry)

        def histogram(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(name, text, labels, registry=self.registry, buckets=WAITS)

        return counter, gauge, histogram

    def watch_queue(self, stats: Callable[[], QueueStats]) -> None:
        """Tell the state of the work queue at each scrape."""
        for name, text, field in (
            ("syncret_queue_depth", "Objects that are due and wait for a worker.", "ready"),
            ("syncret_queue_running", "Objects that are being reconciled.", "running"),
            ("syncret_queue_scheduled", "Objects that wait for their time.", "scheduled"),
            ("syncret_oldest_overdue_seconds", "Age of the oldest item that is due and not running.", "oldest"),
            ("syncret_longest_run_seconds", "Age of the run that takes longest.", "longest"),
        ):
            gauge = Gauge(name, text, registry=self.registry)
            gauge.set_function(lambda field=field: float(getattr(stats(), field)))  # type: ignore[misc]  # a lambda with a default

    def text(self) -> bytes:
        """Everything in the text format."""
        return generate_latest(self.registry)

    def known(self) -> dict[ObjectRef, tuple[bool | None, float | None, float | None]]:
        """Per object: whether it is in order, since when its value is known good, and when it is looked at next."""
        return {ref: (record.ready, record.good_since, record.next_due) for ref, record in self._records.items()}

    def ran(self, run: Run) -> None:
        record = self._records.setdefault(run.ref, _Record())
        record.runs += 1
        record.seconds = run.seconds
        record.errors += run.failure is not None
        record.next_due = run.next_due
        self._queue_wait.observe(run.waited)

    def told(self, ref: ObjectRef, *, ready: bool, good_since: float | None) -> None:
        """What the status says of an object now."""
        record = self._records.setdefault(ref, _Record())
        record.ready = ready
        record.good_since = good_since

    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None:
        self._bugs.inc()

    def gone(self, ref: ObjectRef) -> None:
        self._records.pop(ref, None)
        if ref.kind in ("SecretStore", "ClusterSecretStore"):
            for family in (self._shared, self._retried, self._throttled, self._bucket, self._clients):
                _forget(family, str(ref))

    def called(self, call: Call) -> None:
        status = "success" if call.failure is None else "error"
        self._calls.labels(call.provider, call.operation, status).inc()
        self._call_seconds.labels(call.provider, call.operation).observe(call.seconds)

    def retried(self, store: ObjectRef, retry: Retry) -> None:
        self._retried.labels(str(store)).inc()

    def shared(self, store: ObjectRef, keys: int) -> None:
        self._shared.labels(str(store)).inc(keys)

    def waited(self, store: ObjectRef, seconds: float) -> None:
        self._bucket.labels(str(store)).observe(seconds)

    def throttled(self, store: ObjectRef, seconds: float) -> None:
        self._throttled.labels(str(store)).inc()

    def opened(self, store: ObjectRef, failure: SyncError | None) -> None:
        if failure is None:
            self._clients.labels(str(store)).inc()

    def closed(self, store: ObjectRef, error: str) -> None:
        self._clients.labels(str(store)).dec()


def _forget(family: Counter | Gauge | Histogram, *labels: str) -> None:
    try:
        family.remove(*labels)
    except KeyError:
        return  # it never had a series
