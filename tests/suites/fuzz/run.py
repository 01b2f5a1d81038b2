"""Starts the processes that fuzz, and says what became of them."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.suites.fuzz.worker import case_of

ROOT: Final = Path(__file__).parents[3]
FOUND: Final = ROOT / "build" / "fuzz"
_GRACE: Final = 180
"""Seconds for starting, and for ending."""


@dataclass(frozen=True, slots=True)
class Result:
    """`slowest` counts processor seconds; `failed` tells of a crash or a hang, or how the process died."""

    target: str
    seed: str
    cases: int
    slowest: float = 0.0
    slowest_case: int = 0
    peak_mb: float = 0.0
    failed: str = ""
    reproducer: Path | None = None
    """The file that repeats the case which failed."""

    def __str__(self) -> str:
        if self.failed:
            repeat = f"python -m tests.suites.fuzz.repeat {self.reproducer}"
            case = f"case {self.cases} of seed {self.seed}"
            return f"{self.target}: {case} failed\n{self.failed}\nrepeat it: {repeat}"
        return (
            f"{self.target:10} {self.cases:8} cases, the slowest {self.slowest * 1000:.0f} ms "
            f"(case {self.slowest_case}), at most {self.peak_mb:.0f} MB"
        )


def fuzzed(target: str, seed: str, seconds: float) -> Result:
    """Fuzz one target for so long, in a process of its own."""
    with tempfile.NamedTemporaryFile() as counter:
        counter.write(bytes(8))
        counter.flush()
        done = subprocess.run(
            [sys.executable, "-m", "tests.suites.fuzz.worker", target, seed, str(seconds), counter.name],
            check=False,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds + _GRACE,
        )
        reached = int.from_bytes(Path(counter.name).read_bytes(), "little")
    if done.returncode:
        return _failure(target, seed, reached, f"exit {done.returncode}\n{done.stderr}")
    told = json.loads(done.stdout)
    if "failed" in told:
        return _failure(target, seed, told["case"], told["failed"])
    return Result(target, seed, told["cases"], told["slowest"], told["slowest_case"], told["peak_mb"])


def _failure(target: str, seed: str, case: int, failed: str) -> Result:
    """The result, and a file with the input."""
    FOUND.mkdir(parents=True, exist_ok=True)
    file = FOUND / f"{target}-{seed}-{case}.json"
    found = {"target": target, "seed": seed, "case": case, "input": case_of(target, seed, case)}
    file.write_text(json.dumps(found | {"failed": failed.splitlines()}, indent=1))
    return Result(target, seed, case, failed=failed, reproducer=file)
