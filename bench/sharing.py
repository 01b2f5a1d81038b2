"""Many objects on one key, due together: how many reads reach the provider."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.cluster import bench, external_secret, store
from bench.figures import Figure
from syncret.daemon.engine.observer import Call
from syncret.daemon.engine.virtual_time import VirtualTimeLoop

OBJECTS: Final = 100
HOURS: Final = 24


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """On virtual time, which makes it a count: the first sync, then a day of refreshes on their hour."""
    del folder, smoke
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        first, later, refreshed = runner.run(_count())
    yield Figure(f"{OBJECTS} objects on one key, first sync: reads", "1", f"{first}", first == 1)
    yield Figure(
        f"{OBJECTS} objects on one key, {HOURS} hourly refreshes: reads",
        f"{HOURS}",
        f"{later} ({refreshed} refreshes)",
        later == HOURS and refreshed == OBJECTS * HOURS,
    )


async def _count() -> tuple[int, int, int]:
    async with bench() as one:
        await one.cluster.apply(store("one", "shared"))
        await one.running.engine.wait_idle()
        for number in range(OBJECTS):
            await one.cluster.apply(external_secret(f"app-{number}", "one", "shared"))
        await one.running.engine.wait_idle()
        first = _reads(one.witness.calls)
        # Up to the slot of the key, which all objects share; from there on an hour is an hour.
        await asyncio.sleep(3600 + 1)
        await one.running.engine.wait_idle()
        one.witness.forget()
        await asyncio.sleep(3600 * HOURS)
        await one.running.engine.wait_idle()
        refreshed = [run for run in one.witness.runs if run.ref.kind == "ExternalSecret"]
        return first, _reads(one.witness.calls), len(refreshed)


def _reads(calls: list[Call]) -> int:
    return sum(call.operation == "read" for call in calls)
