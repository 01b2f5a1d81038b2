"""The metrics of controller-runtime: each kind is a controller, and every counter exists from the start."""

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.observer import Repeat, Run
from syncret.daemon.engine.queue.workqueue import KindStats
from syncret.daemon.engine.reconciler import Failure
from syncret.daemon.ops import metric_families as f
from syncret.daemon.ops.series.controllers import ControllerMetrics
from syncret.providers.errors import Denied

SECRET = ObjectRef("external-secrets.io", "ExternalSecret", "default", "a")
QUEUE = 'name="externalsecret",controller="externalsecret"'
OURS = 'controller="externalsecret"'


def run(
    *, failure: Failure | None = None, next_due: float | None = 60, seconds: float = 0.2, waited: float = 0.0
) -> Run:
    return Run(
        ref=SECRET,
        lane="",
        waited=waited,
        seconds=seconds,
        failure=failure,
        failures=int(failure is not None),
        next_due=next_due,
    )


def lines(metrics: ControllerMetrics, stats: KindStats | None = None) -> dict[str, float]:
    """All samples, by name and labels."""
    samples = f.Samples()
    idle = KindStats(0, 0, 0, 0, 0.0, 0.0)
    metrics.add_to(
        samples, dict.fromkeys(f.CONTROLLERS, idle) | {"ExternalSecret": stats or idle}, workers=512
    )
    text = b"".join(samples.pieces()).decode()
    found = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in found}


@pytest.mark.parametrize(
    ("ended", "refused", "expected"),
    [
        pytest.param(run(), False, ("requeue_after", 0, 0), id="due again"),
        pytest.param(run(next_due=None), False, ("success", 0, 0), id="waits for a change"),
        pytest.param(run(failure=Denied("no")), False, ("error", 0, 1), id="retried"),
        pytest.param(run(failure=Denied("no"), next_due=None), False, ("error", 0, 0), id="not retried"),
        pytest.param(run(), True, ("error", 1, 0), id="only a change can help"),
    ],
)
def test_results_of_runs(*, ended: Run, refused: bool, expected: tuple[str, int, int]) -> None:
    metrics = ControllerMetrics()
    metrics.ran(ended, refused=refused)
    found = lines(metrics)
    result, terminal, retries = expected
    total = "controller_runtime_reconcile_total"
    results = {each: found[f'{total}{{{OURS},result="{each}"}}'] for each in RESULTS}
    assert results == dict.fromkeys(RESULTS, 0.0) | {result: 1.0}
    assert found[f"controller_runtime_reconcile_errors_total{{{OURS}}}"] == (result == "error")
    assert found[f"controller_runtime_terminal_reconcile_errors_total{{{OURS}}}"] == terminal
    assert found[f"workqueue_retries_total{{{QUEUE}}}"] == retries
    assert found[f'{total}{{controller="secretstore",result="{result}"}}'] == 0


RESULTS = ("success", "error", "requeue", "requeue_after")


def test_a_conflict_is_a_requeue_and_a_bug_a_panic() -> None:
    metrics = ControllerMetrics()
    metrics.repeats(Repeat(SECRET, 0.0, 0.1))
    metrics.panicked(SECRET)
    found = lines(metrics)
    assert found[f'controller_runtime_reconcile_total{{{OURS},result="requeue"}}'] == 1
    assert found[f"controller_runtime_reconcile_panics_total{{{OURS}}}"] == 1
    assert found[f"workqueue_retries_total{{{QUEUE}}}"] == 1


def test_durations_are_histograms() -> None:
    metrics = ControllerMetrics()
    assert not [name for name in lines(metrics) if "_bucket" in name], "nothing was observed yet"
    for seconds in (0.005, 0.2, 61.0):
        metrics.ran(run(seconds=seconds, waited=0.5), refused=False)
    found = lines(metrics)
    time = "controller_runtime_reconcile_time_seconds"
    buckets = [name for name in found if name.startswith(f"{time}_bucket{{{OURS}")]
    assert len(buckets) == 41
    assert found[f'{time}_bucket{{{OURS},le="0.005"}}'] == 1
    assert found[f'{time}_bucket{{{OURS},le="0.15"}}'] == 1
    assert found[f'{time}_bucket{{{OURS},le="0.2"}}'] == 2
    assert found[f'{time}_bucket{{{OURS},le="60.0"}}'] == 2
    assert found[f'{time}_bucket{{{OURS},le="+Inf"}}'] == found[f"{time}_count{{{OURS}}}"] == 3
    assert found[f"{time}_sum{{{OURS}}}"] == pytest.approx(61.205)
    assert found[f'workqueue_queue_duration_seconds_bucket{{{QUEUE},le="0.1"}}'] == 0
    assert found[f'workqueue_queue_duration_seconds_bucket{{{QUEUE},le="1.0"}}'] == 3
    assert found[f'workqueue_work_duration_seconds_bucket{{{QUEUE},le="1.0"}}'] == 2


def test_the_queue_and_the_workers() -> None:
    found = lines(ControllerMetrics(), KindStats(2, 5, 30, 3, 4.5, 2.5))
    expected = {
        f'workqueue_depth{{{QUEUE},priority="0"}}': 2,
        f'workqueue_depth{{{QUEUE},priority="-100"}}': 5,
        f"workqueue_adds_total{{{QUEUE}}}": 30,
        f"workqueue_unfinished_work_seconds{{{QUEUE}}}": 4.5,
        f"workqueue_longest_running_processor_seconds{{{QUEUE}}}": 2.5,
        f"controller_runtime_active_workers{{{OURS}}}": 3,
        f"controller_runtime_max_concurrent_reconciles{{{OURS}}}": 512,
        'controller_runtime_max_concurrent_reconciles{controller="generatorstate"}': 512,
    }
    assert {name: found[name] for name in expected} == expected
