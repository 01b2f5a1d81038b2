"""Three replicas under disturbances: `python -m tests.real.replicas SECONDS [SEED] [small]`."""

import sys
import time
from functools import partial

from tests.real.replicas.estate import FULL, SMALL
from tests.real.replicas.run import play


def main() -> int:
    """Exit code 1 where a rule was violated; the seed repeats the choice of what happens."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(f"seed {seed}", flush=True)
    outcome = play(SMALL if "small" in sys.argv else FULL, seconds, seed, partial(print, flush=True))
    print(outcome, flush=True)
    return int(bool(outcome.failures))


if __name__ == "__main__":
    sys.exit(main())
