"""Metrics of exports of resources: evaluations, their time, what was refused, and calls of secret APIs."""

from collections import Counter

from syncret.daemon.engine.observer import ExportRun
from syncret.daemon.ops import metric_families as f


class ExportMetrics:
    """Counts runs, by the kinds of their resources."""

    def __init__(self) -> None:
        self._runs: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._refused: Counter[tuple[str, str]] = Counter()
        self._calls: Counter[tuple[str, str]] = Counter()

    def exported(self, run: ExportRun) -> None:
        """Count one."""
        kind = run.ref.kind
        self._runs[kind] += 1
        self._seconds[kind] = self._seconds.get(kind, 0.0) + run.seconds
        if run.refused:
            self._refused[kind, run.refused] += 1
        for api in run.apis:
            self._calls[kind, api] += 1

    def add_to(self, samples: f.Samples) -> None:
        """Add the samples of one scrape."""
        for kind, count in self._runs.items():
            samples.add(f.EXPORTS, count, f.labelled(f.BY_KIND, (kind,)))
            samples.add(f.EXPORT_SECONDS, self._seconds[kind], f.labelled(f.BY_KIND, (kind,)))
        for labels, count in self._refused.items():
            samples.add(f.EXPORTS_REFUSED, count, f.labelled(f.EXPORTS_REFUSED.labels, labels))
        for labels, count in self._calls.items():
            samples.add(f.SECRET_CALLS, count, f.labelled(f.SECRET_CALLS.labels, labels))
