"""Many objects on one key, or few, due together: how many reads reach the provider."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from bench.cluster import bench, external_secret, store
from bench.figures import Figure
from syncret.daemon.engine.observer import Call
from syncret.daemon.engine.virtual_time import VirtualTimeLoop

OBJECTS: Final = 100
HOURS: Final = 24

MANY: Final = 2000
KEYS: Final = 200
WRITE_SECONDS: Final = 2.0
"""16 rounds of 128 objects, each of which takes so long to be written, are a pass of about half a minute."""


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
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        reads, seconds = runner.run(_slow_pass())
    yield Figure(
        f"{MANY} objects on {KEYS} keys, a pass of {seconds:.0f} s: reads",
        f"{KEYS}",
        f"{reads}",
        reads == KEYS,
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


async def _slow_pass() -> tuple[int, float]:
    """Reads, and seconds, of the first pass over a home that writes slowly.

    Without spread: it moves some first refreshes into the pass, and each of those is a read of its own.
    """
    keys = [f"key-{number}" for number in range(KEYS)]
    objects = [external_secret(f"app-{number}", "one", keys[number % KEYS]) for number in range(MANY)]
    async with bench(
        spread=False,
        manifests=[store("one", *keys), *objects],
        substitute=lambda _, provider: replace(provider, batch_size=1),  # as Vault
        write_seconds=WRITE_SECONDS,
    ) as one:
        begin = asyncio.get_running_loop().time()
        await one.running.engine.wait_idle()
        return _reads(one.witness.calls), asyncio.get_running_loop().time() - begin


def _reads(calls: list[Call]) -> int:
    return sum(call.operation == "read" for call in calls)
