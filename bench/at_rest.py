"""What a daemon costs that has nothing to do: memory, processor time, and a restart."""

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.estate import Estate, daemon, estate
from bench.figures import Figure

FEW, MANY = 20, 10_000
FEW_MB, MANY_MB = 60.0, 120.0
IDLE_PERCENT: Final = 0.5
WATCHED: Final = 60.0
"""Longer than the interval in which folders are looked at again."""
RESTARTS: Final = 5
READY_SECONDS: Final = 2.0
CALLS: Final = "externalsecret_provider_api_calls_count"


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """First few objects, then many; the many were synced before, and nothing is due."""
    with estate(FEW, folder) as host, daemon(host) as running:
        time.sleep(0.2 if smoke else 5.0)
        rss = running.rss()
        yield Figure(f"daemon with {FEW} objects, RSS", f"<= {FEW_MB:g} MB", f"{rss:.0f} MB", rss <= FEW_MB)
    many = 200 if smoke else MANY
    with estate(many, folder) as host:
        time.sleep(2.5)  # younger manifests are read again: their times do not prove that they are unchanged
        with daemon(host, "fsync=false") as running:
            time.sleep(0.2 if smoke else 5.0)
            rss = running.rss()
            yield Figure(
                f"daemon with {many} objects after their first sync, RSS",
                f"<= {MANY_MB:g} MB",
                f"{rss:.0f} MB",
                rss <= MANY_MB,
            )
        yield from _restarts(host, many, 1 if smoke else RESTARTS)
        with daemon(host) as running:
            time.sleep(0.2 if smoke else 5.0)
            begin, used = time.monotonic(), running.cpu()
            time.sleep(1.0 if smoke else WATCHED)
            percent = 100 * (running.cpu() - used) / (time.monotonic() - begin)
            rss = running.rss()
            yield Figure(
                f"{many} objects at rest, RSS", f"<= {MANY_MB:g} MB", f"{rss:.0f} MB", rss <= MANY_MB
            )
            yield Figure(
                f"{many} objects at rest, processor (1 h intervals)",
                f"< {IDLE_PERCENT:g} %",
                f"{percent:.2f} %",
                percent < IDLE_PERCENT,
            )


def _restarts(host: Estate, objects: int, times: int) -> Iterator[Figure]:
    seconds: list[float] = []
    calls = 0.0
    for _ in range(times):
        with daemon(host, "spread=false") as running:
            seconds.append(running.seconds)
            calls += running.count(CALLS)
    yield Figure(f"restart, nothing due, {objects} objects: provider calls", "0", f"{calls:g}", calls == 0)
    yield Figure(
        f"restart, nothing due, {objects} objects: ready",
        f"< {READY_SECONDS:g} s",
        f"{median(seconds):.2f} s",
        median(seconds) < READY_SECONDS,
    )
