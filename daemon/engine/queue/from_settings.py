"""The work queue of an engine, with the limits that the settings name."""

from syncret.config.settings import Settings
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.queue.workqueue import WorkQueue


def work_queue(clock: Clock, settings: Settings) -> WorkQueue:
    """A queue with the limits of these settings."""
    return WorkQueue(
        clock, workers=settings.workers, lane_cap=settings.store_workers, waits=settings.store_waits
    )
