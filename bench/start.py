"""How long whole processes take, in the time of a Python that does nothing."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from bench.estate import SYNCRET, estate
from bench.figures import Figure

OBJECTS: Final = 20
ROUNDS: Final = 25
HELP, SYNC = 6.0, 20.0


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """The three commands take turns, so that a busy moment hits all of them."""
    times: dict[str, list[float]] = {"pass": [], "help": [], "sync": []}
    with estate(OBJECTS, folder) as host:
        for _ in range(2 if smoke else ROUNDS):
            host.clear()
            times["pass"].append(_seconds([sys.executable, "-c", "pass"]))
            times["help"].append(_seconds([SYNCRET, "--help"]))
            times["sync"].append(_seconds([SYNCRET, "sync", *host.arguments]))
    nothing = median(times["pass"])
    for name, what, goal in (
        ("help", "`syncret --help`", HELP),
        ("sync", f"`syncret sync` of {OBJECTS} objects", SYNC),
    ):
        ratio = median(times[name]) / nothing
        yield Figure(
            f"{what}, whole process",
            f"<= {goal:g} x `python -c pass`",
            f"{ratio:.1f} x ({median(times[name]) * 1000:.0f} ms / {nothing * 1000:.0f} ms)",
            ratio <= goal,
        )


def _seconds(command: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin
