"""This tree against another commit, by turns: a first sync, a small one, and the memory of both.

`python -m bench.compare COMMIT`, or `BENCH_BASE=COMMIT make bench BENCH=compare`. Both are driven by their
command line alone, so that it does not matter what is where in their sources.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from bench.estate import Estate, estate
from bench.figures import Figure, table
from bench.revisions import ROOT, Unknown, command, environment, sources_of

RUNS: Final = 7
FEW, MANY = 20, 10_000
FEW_TIMES: Final = 5
"""Small syncs in each run: they are short."""
TOLERANCE: Final = 0.03


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """In a process of its own: the peak of a child counts from that of its parent on."""
    base = os.environ.get("BENCH_BASE", "HEAD" if smoke else "")
    if not base:
        yield Figure("this tree against another commit", "", "not measured: BENCH_BASE names none")
        return
    arguments = [base, "--folder", str(folder), "--json"]
    if smoke:
        arguments += ["--runs", "1", "--objects", "50"]
    process = subprocess.run(
        [sys.executable, "-m", "bench.compare", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    yield from (Figure(**each) for each in json.loads(process.stdout))


@dataclass(slots=True)
class Samples:
    """What the runs of one side took."""

    sources: Path
    seconds: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])
    megabytes: list[float] = field(default_factory=list[float])

    def sync(self, host: Estate) -> None:
        """Sync a host that never was synced, with the settings that a user has."""
        host.clear()
        begin = time.perf_counter()
        process = subprocess.Popen(
            command("sync", *host.arguments),
            env=environment(self.sources),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        self.seconds.append(time.perf_counter() - begin)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.megabytes.append(usage.ru_maxrss / 1024)


def compare(base: str, folder: Path, *, objects: int, runs: int) -> Iterator[Figure]:
    """Who goes first alternates too. Raises Unknown."""
    before = sources_of(base, folder)
    with estate(objects, folder) as large, estate(FEW, folder) as small:
        many, few = (Samples(before), Samples(ROOT / "src")), (Samples(before), Samples(ROOT / "src"))
        for side in few:  # writes the bytecode
            Samples(side.sources).sync(small)
        for run in range(runs):
            for which in (0, 1) if run % 2 == 0 else (1, 0):
                many[which].sync(large)
            for place in range(FEW_TIMES):
                for which in (0, 1) if place % 2 == 0 else (1, 0):
                    few[which].sync(small)
    for sides, what in ((many, f"first sync of {objects} to files"), (few, f"`sync` of {FEW} objects")):
        old, new = sides
        yield _figure(f"{what}, {base} and this tree", "s", old.seconds, new.seconds)
        yield _figure("- processor", "s", old.cpu, new.cpu)
        yield _figure("- peak RSS", "MB", old.megabytes, new.megabytes)


def _figure(what: str, unit: str, old: Sequence[float], new: Sequence[float]) -> Figure:
    """Medians; the spread is from the first to the third quartile, since the machine may have been busy."""
    low, _, high = quantiles(old, n=4, method="inclusive") if len(old) > 1 else (old[0],) * 3
    was, now = median(old), median(new)
    return Figure(
        what,
        f"within {TOLERANCE:.0%}, or the old one's spread",
        f"{now / was:.3f} x ({was:.3g} {unit}, {low:.3g} to {high:.3g}; now {now:.3g} {unit})",
        now <= max(was * (1 + TOLERANCE), high),
    )


def main() -> int:
    """Print the table, or (for `python -m bench`) the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("base", metavar="COMMIT")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--objects", type=int, default=MANY)
    parser.add_argument("--folder", type=Path, help="on which disk; the repository's own by default")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parent = options.folder or ROOT / "build"
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compare-", dir=parent) as folder:
        try:
            figures = list(compare(options.base, Path(folder), objects=options.objects, runs=options.runs))
        except Unknown as error:
            figures = [Figure(f"{options.base} and this tree", "", f"not measured: {error}")]
    print(json.dumps([asdict(each) for each in figures]) if options.json else table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
