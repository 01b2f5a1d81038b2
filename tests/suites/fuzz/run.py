"""Starts the processes that fuzz, and says what became of them."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
_GRACE: Final = 120
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

    def __str__(self) -> str:
        if self.failed:
            return f"{self.target}: case {self.cases} of seed {self.seed} failed\n{self.failed}"
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
        return Result(target, seed, reached, failed=f"exit {done.returncode}\n{done.stderr}")
    told = json.loads(done.stdout)
    if "failed" in told:
        return Result(target, seed, told["case"], failed=told["failed"])
    return Result(target, seed, told["cases"], told["slowest"], told["slowest_case"], told["peak_mb"])
