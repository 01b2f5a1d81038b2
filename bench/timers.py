"""A hundred thousand idle objects: one entry of a heap each."""

import asyncio
import gc
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.estate import worker
from bench.figures import Figure, p99
from syncret.config.meta import ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.queue.workqueue import WorkQueue

TIMERS: Final = 100_000
WINDOW: Final = 20.0
LATE_MS, MB = 5.0, 20.0


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """In a process of its own, because memory is measured as the size of a process."""
    del folder
    timers, window = (1000, 0.2) if smoke else (TIMERS, WINDOW)
    with worker("timers", timers=timers, window=window) as process:
        output, _ = process.communicate()
        assert process.returncode == 0
    result = json.loads(output)
    yield Figure(
        f"{timers} timers over {window:g} s: p99 lateness",
        f"<= {LATE_MS:g} ms",
        f"{result['late']:.1f} ms",
        result["late"] <= LATE_MS,
    )
    yield Figure(
        f"{timers} timers: memory (RSS after - before)",
        f"<= {MB:g} MB",
        f"{result['mb']:.1f} MB",
        result["mb"] <= MB,
    )


def _rss() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


async def _work(timers: int, window: float) -> None:
    refs = [ObjectRef("external-secrets.io", "ExternalSecret", "team", f"app-{n}") for n in range(timers)]
    clock = Clock()
    queue = WorkQueue(clock)
    gc.collect()
    before = _rss()
    first = clock.now() + 1.0 + timers * 10e-6
    for place, ref in enumerate(refs):
        queue.add_at(ref, first + window * place / timers, lanes=("store",))
    size = _rss() - before
    assert clock.now() < first
    late: list[float] = []
    for place in range(timers):
        item = await queue.get()
        late.append(clock.now() - (first + window * place / timers))
        queue.done(item.ref)
    print(json.dumps({"late": 1000 * p99(late), "mb": size}))


if __name__ == "__main__":
    asyncio.run(_work(**json.loads(sys.argv[1])))
