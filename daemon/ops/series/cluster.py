"""Metrics of a daemon in a cluster: its requests to the API server, and the state of its watches."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.ops import metric_families as f


class WriteStats(NamedTuple):
    """The writes of the engine: how many are under way, and how many statuses wait to be written."""

    under_way: int
    owed: int


def add_cluster(samples: f.Samples, stats: ClusterStats, writes: WriteStats, held: Mapping[str, int]) -> None:
    """Add the samples of one scrape."""
    for labels, count in stats.requests.items():
        samples.add(f.API_REQUESTS, count, f.labelled(f.API_REQUESTS.labels, labels))
    for (code, method), count in stats.sent.items():
        sent = f.labelled(f.REST_REQUESTS.labels, (code, method, stats.host))
        samples.add(f.REST_REQUESTS, count, sent)
    samples.add(f.API_WRITES, writes.under_way)
    samples.add(f.OWED, writes.owed)
    for kind, seconds in stats.behind(asyncio.get_running_loop().time()).items():
        label = f.labelled(f.BY_KIND, (kind,))
        samples.add(f.STREAM_SYNCED, int(not seconds), label)
        samples.add(f.STREAM_LAG, seconds, label)
    for why, count in stats.restarts.items():
        samples.add(f.STREAM_RESTARTS, count, f.labelled(f.STREAM_RESTARTS.labels, why))
    for kind, count in stats.conflicts().items():
        samples.add(f.CONFLICTS, count, f.labelled(f.BY_KIND, (kind,)))
    samples.add(f.EVENTS_DROPPED, stats.events_dropped)
    for action, count in held.items():
        samples.add(f.HELD, count, f.labelled(f.HELD.labels, (action,)))
    for kind in stats.foreign_writers():
        samples.add(f.FOREIGN, 1, f.labelled(f.FOREIGN.labels, (kind,)))
    if stats.fence is not None:
        left = stats.fence.left()
        samples.add(f.FENCE, left)
        samples.add(f.MASTER, int(left > 0), f.labelled(f.MASTER.labels, (stats.fence.lease,)))
