"""A histogram whose samples are computed at a scrape."""

from bisect import bisect_left

from syncret.daemon.ops import metric_families as f
from syncret.daemon.ops.series.family import Family


class Distribution:
    """A histogram: how many of the observed values lie between its bounds."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Add one value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def add_to(self, samples: f.Samples, family: Family, labels: str) -> None:
        """Add the samples, if anything was observed: forty lines of zeros say nothing."""
        if not any(self._counts):
            return
        count = 0
        for bound, more in zip((*map(repr, self._bounds), "+Inf"), self._counts, strict=True):
            count += more
            braced = f'{labels},le="{bound}"' if labels else f'le="{bound}"'
            samples.add(family, count, braced, suffix="_bucket")
        samples.add(family, self._sum, labels, suffix="_sum")
        samples.add(family, count, labels, suffix="_count")
