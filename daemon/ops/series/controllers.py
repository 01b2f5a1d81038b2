"""The metrics of controller-runtime, which ESO is built on: dashboards and alerts made for ESO ask for them.

There is one queue and one set of workers for all kinds; here each kind is a controller with a queue of its
own, as in ESO. Nothing is kept for each object.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import role_of
from syncret.daemon.engine.observer import Repeat, Run
from syncret.daemon.engine.queue.workqueue import KindStats
from syncret.daemon.ops import metric_families as f
from syncret.daemon.ops.series.distribution import Distribution

RESULTS: Final = ("success", "error", "requeue", "requeue_after")

_SECONDS: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0),
    *(10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
_POWERS_OF_TEN: Final = tuple(10.0**power for power in range(-8, 4))


class _Controller:
    """What is counted of the runs of one kind."""

    __slots__ = ("panics", "results", "retries", "terminal", "times", "waits", "works")

    def __init__(self) -> None:
        self.results: Counter[str] = Counter()
        self.terminal = 0
        self.panics = 0
        self.retries = 0
        self.times = Distribution(_SECONDS)
        self.waits = Distribution(_POWERS_OF_TEN)
        self.works = Distribution(_POWERS_OF_TEN)

    def ended(self, result: str, waited: float, seconds: float) -> None:
        self.results[result] += 1
        self.times.observe(seconds)
        self.works.observe(seconds)
        self.waits.observe(waited)


class ControllerMetrics:
    """Counts runs by kind. All counters are there from the start, so that each increase can be seen.

    Runs for kinds that others define are not counted here: they are exports.
    """

    def __init__(self) -> None:
        self._of_kind = {kind: _Controller() for kind in f.CONTROLLERS}

    def ran(self, run: Run, *, refused: bool) -> None:
        """A run is over. `refused`: it failed, and only a change can help."""
        controller = self._of(run.ref)
        if controller is None:
            return
        if refused or run.failure is not None:
            result = "error"
        else:
            result = "success" if run.next_due is None else "requeue_after"
        controller.ended(result, run.waited, run.seconds)
        controller.terminal += refused
        controller.retries += run.failure is not None and run.next_due is not None

    def repeats(self, repeat: Repeat) -> None:
        """A run met a conflict, and the object is run again at once."""
        controller = self._of(repeat.ref)
        if controller is not None:
            controller.ended("requeue", repeat.waited, repeat.seconds)
            controller.retries += 1

    def panicked(self, ref: ObjectRef) -> None:
        """A run ended with an unexpected error; that it is over is reported as well."""
        controller = self._of(ref)
        if controller is not None:
            controller.panics += 1

    def _of(self, ref: ObjectRef) -> _Controller | None:
        return self._of_kind.get(ref.kind) if role_of(ref[:2]) is not None else None

    def add_to(self, samples: f.Samples, stats: Mapping[str, KindStats], *, workers: int) -> None:
        """Add the samples of all controllers."""
        for kind, name in f.CONTROLLERS.items():
            self._add_runs(samples, name, self._of_kind[kind])
            self._add_queue(samples, name, self._of_kind[kind], stats[kind])
            label = f.labelled(f.CONTROLLER, (name,))
            samples.add(f.ACTIVE_WORKERS, stats[kind].working, label)
            samples.add(f.MOST_WORKERS, workers, label)

    def _add_runs(self, samples: f.Samples, name: str, controller: _Controller) -> None:
        label = f.labelled(f.CONTROLLER, (name,))
        for result in RESULTS:
            samples.add(f.RECONCILES, controller.results[result], f'{label},result="{result}"')
        samples.add(f.RECONCILE_ERRORS, controller.results["error"], label)
        samples.add(f.TERMINAL_ERRORS, controller.terminal, label)
        samples.add(f.PANICS, controller.panics, label)
        controller.times.add_to(samples, f.RECONCILE_TIME, label)

    def _add_queue(self, samples: f.Samples, name: str, controller: _Controller, stats: KindStats) -> None:
        label = f.labelled(f.WORK_QUEUE, (name, name))
        samples.add(f.WORK_DEPTH, stats.urgent, f'{label},priority="0"')
        samples.add(f.WORK_DEPTH, stats.periodic, f'{label},priority="-100"')
        samples.add(f.WORK_ADDS, stats.added, label)
        samples.add(f.WORK_RETRIES, controller.retries, label)
        samples.add(f.WORK_UNFINISHED, stats.seconds, label)
        samples.add(f.WORK_LONGEST, stats.longest, label)
        controller.waits.add_to(samples, f.WORK_WAIT, label)
        controller.works.add_to(samples, f.WORK_TIME, label)
