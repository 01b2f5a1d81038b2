"""The process that a target is fuzzed in: it may use so much memory, and so long for each case."""

import faulthandler
import json
import mmap
import resource
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import Final

from tests.suites.fuzz.targets import TARGETS

MEMORY: Final = 300 * 1024 * 1024
"""Bytes beyond what the process takes before the first case."""

SECONDS: Final = 10
"""For one case, on a busy machine."""


def fuzz(target: str, seed: str, seconds: float, counter: Path) -> dict[str, object]:
    """Run cases until the time is over or one fails. The counter's file always tells the case's number."""
    run = TARGETS[target]
    run(Random(seed))  # noqa: S311  # imports and caches are made
    _limit_memory()
    slowest, worst, case = 0.0, 0, 0
    with counter.open("r+b") as file, mmap.mmap(file.fileno(), 8) as shared:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.process_time()
            shared[:] = case.to_bytes(8, "little")
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                run(Random(f"{seed} {target} {case}"))  # noqa: S311  # the same cases every time
            except Exception:  # noqa: BLE001  # whatever escapes is the finding
                return {"case": case, "failed": traceback.format_exc()}
            taken = time.process_time() - begin
            if taken > slowest:
                slowest, worst = taken, case
            case += 1
        faulthandler.cancel_dump_traceback_later()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cases": case, "slowest": slowest, "slowest_case": worst, "peak_mb": peak}


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    name, seed, seconds, counter = sys.argv[1:]
    sys.stdout.write(json.dumps(fuzz(name, seed, float(seconds), Path(counter))) + "\n")
