"""Waits for the end of a program that runs beside the daemon, such as that of a pod's main container."""

import asyncio
import os
from typing import Final

from syncret.daemon.delivery.processes.finding import processes_of_program

GONE: Final = 5.0
"""Seconds without a process of the program after which it has ended; a restarted container is faster."""
LOOK_EVERY: Final = 1.0


async def ended(program: str) -> None:
    """Return once the program has run, and none of its processes is left for some seconds."""
    loop = asyncio.get_running_loop()
    gone_since: float | None = None
    while gone_since is None or loop.time() - gone_since < GONE:
        found = await asyncio.to_thread(processes_of_program, program)
        if not found:
            await asyncio.sleep(min(LOOK_EVERY, GONE))
            continue
        for pid in found:
            await _end_of(pid)
        gone_since = loop.time()


async def _end_of(pid: int) -> None:
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(process)
        os.close(process)
