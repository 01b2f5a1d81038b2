"""Fuzzes templates, paths, manifests, answers and a daemon: `python -m tests.suites.fuzz SECONDS [SEED]`."""

import sys
import time

from tests.suites.fuzz.run import fuzzed
from tests.suites.fuzz.targets import TARGETS


def main() -> int:
    """Exit code 1 where a case crashed, hung or took too much memory; the line says how to repeat it."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    seed = sys.argv[2] if len(sys.argv) > 2 else str(int(time.time()))
    failed = False
    print(f"seed {seed}")
    for target in TARGETS:
        result = fuzzed(target, seed, seconds / len(TARGETS))
        failed |= bool(result.failed)
        print(result, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
