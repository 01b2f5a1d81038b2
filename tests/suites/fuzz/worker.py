"""The process that a target is fuzzed in: it may use so much memory, and so much time for each case."""

import faulthandler
import json
import mmap
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import Final

from tests.suites.fuzz.targets import TARGETS, Target

MEMORY: Final = 300 * 1024 * 1024
"""Bytes beyond what the process takes before the first case."""

LONGEST: Final = 120
"""Seconds by the clock for one case, also if it waits for something; on a busy machine."""


def fuzz(name: str, seed: str, seconds: float, counter: Path) -> dict[str, object]:
    """Run cases until the time is over or one fails. The counter's file always tells the case's number."""
    target = TARGETS[name]
    target.give(target.make(_chance(name, seed, 0)))  # imports and caches are made
    if not target.apart:
        _limit_memory()
    _limit_time()
    slowest, worst, case = 0.0, 0, 0
    with counter.open("r+b") as file, mmap.mmap(file.fileno(), 8) as shared:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.process_time()
            shared[:] = case.to_bytes(8, "little")
            made = target.make(_chance(name, seed, case))
            _begin_case(target)
            try:
                target.give(made)
            except Exception:  # noqa: BLE001  # whatever escapes is the finding
                return {"case": case, "failed": traceback.format_exc()}
            taken = time.process_time() - begin
            if taken > slowest:
                slowest, worst = taken, case
            case += 1
    signal.setitimer(signal.ITIMER_PROF, 0)
    faulthandler.cancel_dump_traceback_later()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cases": case, "slowest": slowest, "slowest_case": worst, "peak_mb": peak}


def case_of(name: str, seed: str, case: int) -> object:
    """The input of one case, the same every time."""
    return TARGETS[name].make(_chance(name, seed, case))


def _chance(name: str, seed: str, case: int) -> Random:
    return Random(f"{seed} {name} {case}")  # noqa: S311  # cases, not keys


def _begin_case(target: Target) -> None:
    """From now on, one case has its time: the processor's, so that a busy machine does not matter."""
    signal.setitimer(signal.ITIMER_PROF, target.seconds)
    faulthandler.dump_traceback_later(LONGEST, exit=True)


def _limit_time() -> None:
    """When the processor time is over, the process dies of it, and tells where it was."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    faulthandler.register(signal.SIGPROF, chain=True)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    name, seed, seconds, counter = sys.argv[1:]
    sys.stdout.write(json.dumps(fuzz(name, seed, float(seconds), Path(counter))) + "\n")
