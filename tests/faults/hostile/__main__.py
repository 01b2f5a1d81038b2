"""Faces a real daemon with hostile manifests by name: `python -m tests.faults.hostile REGEX [SECONDS]`."""

import random
import re
import sys
import tempfile
from pathlib import Path

from tests.faults.hostile.arena import faced
from tests.faults.hostile.table import CASES


def main() -> None:
    """One line for each, and what else the table says of it."""
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 12.0
    chance = random.Random()  # noqa: S311  # moments, not keys
    for case in CASES:
        if re.search(sys.argv[1], case.name):
            with tempfile.TemporaryDirectory() as folder:
                outcome = faced(Path(folder), case, chance, most=seconds)
            wrong = "" if outcome.ended_as(case) else f"  EXPECTED {case.end} {case.says}"
            sys.stdout.write(f"{outcome}{wrong}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
