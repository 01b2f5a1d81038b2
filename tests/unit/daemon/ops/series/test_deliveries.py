"""Metrics of Deliveries: what is live and owed, and how often what was done; none where there are none."""

import json
from typing import Any

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import DELIVERY
from syncret.daemon.core.delivery.step import Step, StepName
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.ops.metric_families import Samples
from syncret.daemon.ops.series.deliveries import DeliveryMetrics
from syncret.daemon.ops.view import ObjectView, view_of

NOW = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""


class Clock:
    """A monotonic clock that the test turns."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def stored(name: str, *, reason: str = "Delivered", **status: Any) -> tuple[StoredObject, ObjectView]:  # noqa: ANN401
    ready = "True" if reason == "Delivered" else "False"
    conditions = [{"type": "Ready", "status": ready, "reason": reason, "message": ""}]
    body = json.dumps({"status": {"conditions": conditions, **status}}).encode()
    found = StoredObject(ref=DELIVERY.ref("default", name), uid="u", resource_version="1", data=body)
    return found, view_of(found)


def step(name: StepName, ref: ObjectRef, at: float = 100.0, **what: Any) -> Step:  # noqa: ANN401
    return Step(ref=ref, name=name, at=at, **what)


def scrape(
    metrics: DeliveryMetrics, *objects: tuple[StoredObject, ObjectView], room: int = 10
) -> dict[str, float]:
    """The samples, without the common beginning of their names."""
    samples = Samples()
    metrics.add_to(samples, objects, room=room, now=NOW)
    lines = b"".join(samples.pieces()).decode().splitlines()
    values = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name.removeprefix("syncret_delivery_"): float(value) for name, _, value in values}


def test_a_host_without_deliveries_has_no_series() -> None:
    assert scrape(DeliveryMetrics()) == {}


def test_what_is_live_and_why_it_is_not_ready() -> None:
    live = {"generation": 7, "since": "2025-12-31T23:58:00Z"}
    found = scrape(
        DeliveryMetrics(), stored("web", live=live), stored("db", reason="RolledBack"), stored("odd", live=5)
    )
    assert found['live_generation{name="web",namespace="default"}'] == 7
    assert found['live_generation{name="db",namespace="default"}'] == 0
    assert found['live_age_seconds{name="web",namespace="default"}'] == 120
    assert found['ready{name="web",namespace="default",reason="Delivered"}'] == 1
    assert found['ready{name="db",namespace="default",reason="RolledBack"}'] == 0
    assert found['syncret_objects{kind="Delivery"}'] == 3
    assert found['syncret_objects_not_ready{kind="Delivery"}'] == 1


def test_what_is_owed_grows_until_it_is_done() -> None:
    clock, web = Clock(), stored("web")
    metrics, series = DeliveryMetrics(clock), 'pending_seconds{name="web",namespace="default"}'
    assert scrape(metrics, web)[series] == 0
    metrics.took_step(step("due", web[0].ref, 100.0))
    metrics.took_step(step("due", web[0].ref, 150.0))
    clock.time = 160.0
    assert scrape(metrics, web)[series] == 60
    metrics.took_step(step("over", web[0].ref))
    assert scrape(metrics, web)[series] == 0


def test_an_object_that_is_gone_leaves_nothing() -> None:
    clock, web = Clock(), stored("web")
    metrics = DeliveryMetrics(clock)
    metrics.took_step(step("due", web[0].ref))
    clock.time = 200.0
    assert scrape(metrics) == {}
    assert scrape(metrics, web)['pending_seconds{name="web",namespace="default"}'] == 0


def test_steps_are_counted_and_timed() -> None:
    metrics, web = DeliveryMetrics(Clock()), stored("web")
    ref = web[0].ref
    for each in (
        step("due", ref, 100.0),
        step("check", ref, result="success"),
        step("swap", ref),
        step("reload", ref, result="failed", action="restart", seconds=0.3),
        step("reloaded", ref, 102.0),
        step("rollback", ref),
        step("repair", ref),
    ):
        metrics.took_step(each)
    found = scrape(metrics, web)
    assert found['checks_total{result="success"}'] == 1
    assert found['checks_total{result="failed"}'] == 0
    assert found['reloads_total{action="restart",result="failed"}'] == 1
    assert found["swaps_total"] == found["rollbacks_total"] == found["repairs_total"] == 1
    assert found["reload_seconds_sum"] == 0.3
    assert found['reload_seconds_bucket{le="0.25"}'] == 0
    assert found['reload_seconds_bucket{le="0.5"}'] == 1
    assert found["change_to_reload_seconds_sum"] == 2


def test_beyond_the_limit_only_totals_are_told() -> None:
    found = scrape(DeliveryMetrics(), stored("a"), stored("b"), room=1)
    assert [name for name in found if name.startswith("ready")] == [
        'ready{name="a",namespace="default",reason="Delivered"}'
    ]
    assert found['syncret_objects{kind="Delivery"}'] == 2
