"""Metrics of Deliveries: counted step by step, and read from their statuses at a scrape."""

import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import Final

import msgspec

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import DELIVERY
from syncret.daemon.core.conditions import seconds
from syncret.daemon.core.delivery.step import Step
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.ops import metric_families as f
from syncret.daemon.ops.series import delivery_families as d
from syncret.daemon.ops.series.distribution import Distribution
from syncret.daemon.ops.series.family import NAMED
from syncret.daemon.ops.view import ObjectView

_RELOADS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 90.0)
_CHANGES: Final = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)


class DeliveryMetrics:
    """Counts the steps of Deliveries. A host without any has none of these series."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._counts: Counter[str] = Counter()
        self._checks: Counter[str] = Counter()
        self._reloads: Counter[tuple[str, str]] = Counter()
        self._reload_seconds = Distribution(_RELOADS)
        self._change_seconds = Distribution(_CHANGES)
        self._due: dict[ObjectRef, float] = {}

    def took_step(self, step: Step) -> None:
        """Count one step."""
        match step.name:
            case "due":
                self._due.setdefault(step.ref, step.at)
            case "over":
                self._due.pop(step.ref, None)
            case "check":
                self._checks[step.result] += 1
            case "reload":
                self._reloads[step.action, step.result] += 1
                self._reload_seconds.observe(step.seconds)
            case "reloaded":
                self._change_seconds.observe(step.at - self._due.get(step.ref, step.at))
            case "swap" | "rollback" | "repair":
                self._counts[step.name] += 1

    def add_to(
        self,
        samples: f.Samples,
        views: Collection[tuple[StoredObject, ObjectView]],
        *,
        room: int,
        now: float,
    ) -> None:
        """Add the samples of one scrape; those of so many objects at most."""
        refs = {stored.ref for stored, _ in views}
        self._due = {ref: since for ref, since in self._due.items() if ref in refs}
        if views:
            label = f.labelled(f.OBJECTS.labels, (DELIVERY.kind,))
            samples.add(f.OBJECTS, len(views), label)
            samples.add(f.NOT_READY, sum(view.ready is False for _, view in views), label)
            self._add_counts(samples)
        for stored, view in list(views)[:room]:
            self._add_object(samples, stored, view, now)

    def _add_counts(self, samples: f.Samples) -> None:
        for result in {"success", "failed", *self._checks}:
            samples.add(d.CHECKS, self._checks[result], f.labelled(d.CHECKS.labels, (result,)))
        for labels, count in self._reloads.items():
            samples.add(d.RELOADS, count, f.labelled(d.RELOADS.labels, labels))
        samples.add(d.SWAPS, self._counts["swap"])
        samples.add(d.ROLLBACKS, self._counts["rollback"])
        samples.add(d.REPAIRS, self._counts["repair"])
        self._reload_seconds.add_to(samples, d.RELOAD_SECONDS, "")
        self._change_seconds.add_to(samples, d.CHANGE_SECONDS, "")

    def _add_object(self, samples: f.Samples, stored: StoredObject, view: ObjectView, now: float) -> None:
        ref = stored.ref
        named = f.labelled(NAMED, (ref.name, ref.namespace))
        live = live_of(stored)
        since = seconds(live.since)
        samples.add(d.GENERATION, live.generation, named)
        condition = view.ready_condition
        if condition is not None:
            labels = f.labelled(d.READY.labels, (ref.name, ref.namespace, condition.reason))
            samples.add(d.READY, int(view.ready is True), labels)
        if since is not None:
            samples.add(d.LIVE_AGE, max(0.0, now - since), named)
        due = self._due.get(ref)
        samples.add(d.PENDING, 0 if due is None else self._monotonic() - due, named)


class _Live(msgspec.Struct, frozen=True):
    generation: int = 0
    since: str = ""


class _Status(msgspec.Struct, frozen=True):
    live: _Live | None = None


class _Delivery(msgspec.Struct, frozen=True):
    status: _Status = _Status()


def live_of(stored: StoredObject) -> _Live:
    """What is live of a Delivery; generation 0: nothing yet."""
    try:
        return stored.as_type(_Delivery).status.live or _Live()
    except msgspec.ValidationError:
        return _Live()  # its condition says what is wrong with it
