"""Prometheus metrics: the External Secrets operator's names where it has one, `syncret_` for what is ours.

One small record is kept for each object; samples are computed only at a scrape, from the record and the
object's newest status. When an object is deleted, its series end with it. Beyond `limit` objects only totals
are exported, so that the size of a scrape is bounded.
"""

import asyncio
from collections import Counter as Counts
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from syncret.config.meta import NullIsEmpty, ObjectRef
from syncret.config.resources.kinds import DELIVERY, EXTERNAL_SECRET, SHOWN, role_of
from syncret.config.version import version
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.core.conditions import CONSTRAINTS_SATISFIED, REACHABLE, READY
from syncret.daemon.engine.observer import Call, ExportRun, NullObserver, Repeat, Run
from syncret.daemon.engine.queue.workqueue import KindStats, QueueStats
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.ops import metric_families as f
from syncret.daemon.ops.series.cluster import WriteStats, add_cluster
from syncret.daemon.ops.series.controllers import ControllerMetrics
from syncret.daemon.ops.series.deliveries import DeliveryMetrics
from syncret.daemon.ops.series.exports import ExportMetrics
from syncret.daemon.ops.series.family import NAMED
from syncret.daemon.ops.view import LastError, Objects, ObjectView, view_of
from syncret.providers.errors import SyncError
from syncret.providers.kit.limits import LimiterStats
from syncret.providers.kit.retry import Retry

if TYPE_CHECKING:  # few hosts have one
    from syncret.daemon.cache.cache import Stats as CacheStats

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

WAITS: Final = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0)
OBJECTS_PER_TURN: Final = 200
"""Objects whose samples are made in one turn of the loop: two or three milliseconds."""

OPPOSITE: Final = {"True": "False", "False": "True"}


class AnswerStats(NamedTuple):
    """A snapshot of the memory for answers of secret managers, in bytes; and how many readers wait for it."""

    used: int
    limit: int
    waiting: int


class Sources(NamedTuple):
    """What a scrape reads from the engine."""

    inventory: Objects
    queue: Callable[[], QueueStats]
    kinds: Callable[[Iterable[str]], Mapping[str, KindStats]]
    workers: int
    limits: Callable[[], Iterable[tuple[ObjectRef, LimiterStats]]]
    in_flight: Callable[[], Iterable[tuple[ObjectRef, int]]]
    answers: Callable[[], AnswerStats]
    failure: Callable[[ObjectRef], object | None]
    """The last error of an object, also one that is not retried."""
    unreported: Callable[[ObjectRef], LastError | None]
    """The error of its last run that no status reports."""
    unanswered: Callable[[str], float | None] = lambda _: None
    """For how long objects have waited for a store without an answer."""
    writes: Callable[[], WriteStats] = lambda: WriteStats(0, 0)
    cluster: ClusterStats | None = None
    """None: a host."""
    held: Callable[[], Mapping[str, int]] = dict
    """How many writes were held back, by what they would do."""
    deletions_waiting: Callable[[], int] = lambda: 0
    credential_requests: Callable[[], Mapping[str, int]] = dict
    """How many units that started asked for a credential, by what they got."""
    invalid_manifests: Callable[[], Iterable[tuple[str, str]]] = tuple
    """File and reason of each that has no effect."""
    cache: "Callable[[], CacheStats] | None" = None
    """None: no offline cache is wanted."""


class _Record:
    """Counters of one object."""

    __slots__ = ("errors", "failures", "next_due", "runs", "seconds")

    def __init__(self) -> None:
        self.runs = 0
        self.errors = 0
        self.failures = 0
        self.seconds = 0.0
        self.next_due: float | None = None


class _Store:
    """Counters of one store."""

    __slots__ = ("clients", "retried", "shared", "throttled", "waited")

    def __init__(self) -> None:
        self.shared = 0
        self.retried = 0
        self.throttled = 0
        self.waited = 0.0
        self.clients = 0


class Metrics(NullObserver):
    """All metrics of one run of the daemon. It observes the engine; `watch` follows once that exists."""

    def __init__(self, now: Callable[[], float], *, limit: int = 20_000, extended: bool = False) -> None:
        """`extended`: ESO's series of an object have six of its labels, too."""
        self.registry = CollectorRegistry()
        self._now = now
        self._limit = limit
        self._extended = extended
        self._sources: Sources | None = None
        self._records: dict[ObjectRef, _Record] = {}
        self._stores: dict[ObjectRef, _Store] = {}
        self._calls: dict[tuple[str, str, str], int] = {}
        self._first_pass: float | None = None
        self._controllers = ControllerMetrics()
        self._exports = ExportMetrics()
        self._deliveries = DeliveryMetrics()
        self.took_step = self._deliveries.took_step
        self._call_seconds = Histogram(
            "syncret_provider_call_seconds",
            "Duration of calls to secret managers.",
            ("provider", "call"),
            registry=self.registry,
            buckets=WAITS,
        )
        self._queue_wait = Histogram(
            "syncret_queue_wait_seconds",
            "How long due objects waited for a worker.",
            registry=self.registry,
            buckets=WAITS,
        )
        self._write_wait = Histogram(
            "syncret_api_write_wait_seconds",
            "How long writes waited for their turn.",
            registry=self.registry,
            buckets=WAITS,
        )
        self._bugs = Counter(
            "syncret_bugs", "Runs that ended with an unexpected error.", registry=self.registry
        )
        build = Gauge("syncret_build_info", "The running version.", ("version",), registry=self.registry)
        build.labels(version()).set(1)
        ProcessCollector(registry=self.registry)

    def watch(self, sources: Sources) -> None:
        """Read these sources at each scrape."""
        self._sources = sources

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The scrape in the text format, in pieces, between which the event loop serves other tasks."""
        samples = f.Samples()
        if self._sources is not None:
            await self._add_objects(samples, self._sources)
            self._add_queue(samples, self._sources.queue())
            samples.add(f.DELETIONS_WAITING, self._sources.deletions_waiting())
            for result, count in self._sources.credential_requests().items():
                samples.add(f.CREDENTIALS, count, f.labelled(f.CREDENTIALS.labels, (result,)))
            _add_invalid_manifests(samples, self._sources.invalid_manifests(), self._limit)
            self._add_stores(samples, self._sources)
            answers = self._sources.answers()
            samples.add(f.ANSWERS, answers.used)
            samples.add(f.ANSWERS_LIMIT, answers.limit)
            samples.add(f.ANSWERS_WAITING, answers.waiting)
            if self._sources.cache is not None:
                _add_cache(samples, self._sources.cache(), self._limit)
            stats = self._sources.kinds(f.CONTROLLERS)
            self._controllers.add_to(samples, stats, workers=self._sources.workers)
            if self._sources.cluster is not None:
                add_cluster(samples, self._sources.cluster, self._sources.writes(), self._sources.held())
        for labels, count in self._calls.items():
            samples.add(f.API_CALLS, count, f.labelled(f.API_CALLS.labels, labels))
        self._exports.add_to(samples)
        if self._first_pass is not None:
            samples.add(f.FIRST_PASS, self._first_pass)
        for piece in samples.pieces():
            yield piece
            await asyncio.sleep(0)
        yield generate_latest(self.registry)

    def next_due(self, ref: ObjectRef) -> float | None:
        """When the object runs next, as its last run scheduled it."""
        record = self._records.get(ref)
        return None if record is None else record.next_due

    async def _add_objects(self, samples: f.Samples, sources: Sources) -> None:
        exported = 0
        left_out = max(0, len(self._stores) - self._limit)
        for kind in SHOWN:
            objects = list(sources.inventory.list(kind.group_kind))
            label = f.labelled(f.OBJECTS.labels, (kind.kind,))
            samples.add(f.OBJECTS, len(objects), label)
            not_ready = violating = 0
            for number, stored in enumerate(objects, 1):
                newest = view_of(stored, sources.unreported(stored.ref))
                not_ready += newest.ready is False
                violating += newest.violates
                if exported < self._limit:
                    self._add_object(samples, stored, newest)
                    exported += 1
                else:
                    left_out += 1
                if number % OBJECTS_PER_TURN == 0:
                    await asyncio.sleep(0)
            samples.add(f.NOT_READY, not_ready, label)
            if kind == EXTERNAL_SECRET:
                samples.add(f.VIOLATING, violating)
        views = [
            (stored, view_of(stored, sources.unreported(stored.ref)))
            for stored in sources.inventory.list(DELIVERY.group_kind)
        ]
        room = max(0, self._limit - exported)
        self._deliveries.add_to(samples, views, room=room, now=self._now())
        samples.add(f.OBJECTS_WITHOUT_SERIES, left_out + max(0, len(views) - room))

    def _add_object(self, samples: f.Samples, stored: StoredObject, newest: ObjectView) -> None:
        ref = stored.ref
        record = self._records.get(ref)
        named = f.labelled(NAMED, (ref.name, ref.namespace))
        ours = f'kind="{ref.kind}",{named}'
        if self._extended:
            named = f"{named},{_own_labels(stored)}"
        _add_conditions(samples, ref, newest, named)
        role = role_of(ref.group_kind)
        if role in ("sync", "push"):
            since, interval = newest.good_since, newest.interval
            if since is not None:
                samples.add(f.VALUE_AGE, max(0.0, self._now() - since), ours)
            if interval:
                samples.add(f.INTERVAL, interval, ours)
        if record is None:
            return
        if role == "sync":
            samples.add(f.SYNC_CALLS, record.runs, named)
            samples.add(f.SYNC_ERRORS, record.errors, named)
        samples.add(f.DURATIONS[ref.kind], record.seconds * 1e9, named)
        if record.next_due is not None:
            samples.add(f.NEXT_DUE, record.next_due, ours)
        if record.failures:
            samples.add(f.FAILURES, record.failures, ours)

    def _add_queue(self, samples: f.Samples, stats: QueueStats) -> None:
        samples.add(f.QUEUE_DEPTH, stats.ready)
        samples.add(f.QUEUE_URGENT, stats.urgent)
        samples.add(f.QUEUE_RUNNING, stats.running)
        samples.add(f.QUEUE_WAITING, stats.waiting)
        samples.add(f.QUEUE_SCHEDULED, stats.scheduled)
        samples.add(f.OVERDUE, stats.oldest)
        samples.add(f.LONGEST_RUN, stats.longest)

    def _add_stores(self, samples: f.Samples, sources: Sources) -> None:
        for ref in [ref for ref in self._stores if sources.inventory.get(ref) is None]:
            del self._stores[ref]  # a call ended after its store was deleted
        limits, in_flight = dict(sources.limits()), dict(sources.in_flight())
        for ref, store in list(self._stores.items())[: self._limit]:
            label = f.labelled(f.STORE, (str(ref),))
            samples.add(f.SHARED, store.shared, label)
            samples.add(f.RETRIED, store.retried, label)
            samples.add(f.THROTTLED, store.throttled, label)
            samples.add(f.BUCKET_WAIT, store.waited, label)
            samples.add(f.CLIENTS, store.clients, label)
            samples.add(f.IN_FLIGHT, in_flight.get(ref, 0), label)
            unanswered = sources.unanswered(str(ref))
            if unanswered is not None:
                samples.add(f.UNANSWERED, unanswered, label)
            if ref in limits:
                samples.add(f.BUCKET_WAITING, limits[ref].waiting, label)
                samples.add(f.BUCKET_CLOSED, limits[ref].closed, label)

    def ran(self, run: Run) -> None:
        record = self._records.setdefault(run.ref, _Record())
        refused = run.failure is None and self._is_refused(run.ref)
        record.runs += 1
        record.errors += run.failure is not None or refused
        record.failures = run.failures
        record.seconds = run.seconds
        record.next_due = run.next_due
        self._queue_wait.observe(run.waited)
        self._controllers.ran(run, refused=refused)

    def repeats(self, repeat: Repeat) -> None:
        self._controllers.repeats(repeat)

    def _is_refused(self, ref: ObjectRef) -> bool:
        """Whether the run failed in a way that is not retried, such as a target that another object owns."""
        return self._sources is not None and self._sources.failure(ref) is not None

    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None:
        del error, where
        self._bugs.inc()
        self._controllers.panicked(ref)

    def removed(self, ref: ObjectRef) -> None:
        self._records.pop(ref, None)
        self._stores.pop(ref, None)

    def first_pass(self, seconds: float) -> None:
        self._first_pass = seconds

    def called(self, call: Call) -> None:
        labels = (*call.labels, "success" if call.failure is None else "error")
        self._calls[labels] = self._calls.get(labels, 0) + 1
        self._call_seconds.labels(*call.labels).observe(call.seconds)
        self._store(call.store)

    def exported(self, run: ExportRun) -> None:
        self._exports.exported(run)

    def retried(self, store: ObjectRef, retry: Retry) -> None:
        del retry
        self._store(store).retried += 1

    def shared(self, store: ObjectRef, keys: int) -> None:
        self._store(store).shared += keys

    def write_waited(self, seconds: float) -> None:
        self._write_wait.observe(seconds)

    def waited(self, store: ObjectRef, seconds: float) -> None:
        self._store(store).waited += seconds

    def throttled(self, store: ObjectRef, seconds: float) -> None:
        del seconds
        self._store(store).throttled += 1

    def opened(self, store: ObjectRef, failure: SyncError | None) -> None:
        self._store(store).clients += failure is None

    def closed(self, store: ObjectRef, error: str) -> None:
        del error
        known = self._stores.get(store)  # the last client may close after its store was deleted
        if known is not None:
            known.clients -= 1

    def _store(self, ref: ObjectRef) -> _Store:
        return self._stores.setdefault(ref, _Store())


_LABELS: Final = ("name", "instance", "version", "component", "part-of", "managed-by")
_LABEL_NAMES: Final = tuple(f"app_kubernetes_io_{each.replace('-', '_')}" for each in _LABELS)


class _Labelled(msgspec.Struct):
    labels: NullIsEmpty[dict[str, str]] = {}


class _Head(msgspec.Struct):
    metadata: _Labelled


def _own_labels(stored: StoredObject) -> str:
    """What the object's own `app.kubernetes.io` labels say; an empty value for each that it lacks."""
    labels = stored.as_type(_Head).metadata.labels
    return f.labelled(_LABEL_NAMES, tuple(labels.get(f"app.kubernetes.io/{each}", "") for each in _LABELS))


def _add_conditions(samples: f.Samples, ref: ObjectRef, newest: ObjectView, named: str) -> None:
    """The conditions of an object; of a store that does not answer, why."""
    family = f.CONDITIONS[ref.kind]
    for condition in newest.status.conditions:
        label = f'{named},condition="{condition.type}",status='
        samples.add(family, 1, f'{label}"{condition.status}"')
        if condition.type in (READY, REACHABLE, CONSTRAINTS_SATISFIED) and condition.status in OPPOSITE:
            samples.add(family, 0, f'{label}"{OPPOSITE[condition.status]}"')
    if newest.unreachable is not None:
        samples.add(f.UNREACHABLE, 1, f.labelled(f.UNREACHABLE.labels, (str(ref), newest.unreachable)))


def _add_cache(samples: f.Samples, stats: "CacheStats", limit: int) -> None:
    """The offline cache; of so many stores at most."""
    samples.add(f.CACHE_USABLE, int(stats.usable))
    samples.add(f.CACHE_ENTRIES, stats.entries)
    samples.add(f.CACHE_BYTES, stats.size)
    if stats.oldest is not None:
        samples.add(f.CACHE_OLDEST, stats.oldest)
    if stats.no_stale_after:
        samples.add(f.CACHE_LIMIT, stats.no_stale_after)
    samples.add(f.CACHE_RESTORED, stats.restored)
    samples.add(f.CACHE_REJECTED, stats.rejected)
    for store, count in islice(stats.served.items(), limit):
        samples.add(f.CACHE_SERVED, count, f.labelled(f.STORE, (store,)))


def _add_invalid_manifests(samples: f.Samples, invalid: Iterable[tuple[str, str]], limit: int) -> None:
    """How many documents of each file are invalid for which reason; of so many files and reasons at most."""
    for labels, count in islice(Counts(invalid).items(), limit):
        samples.add(f.INVALID_MANIFESTS, count, f.labelled(f.INVALID_MANIFESTS.labels, labels))
