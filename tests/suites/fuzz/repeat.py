"""Gives the product an input that failed once more: `python -m tests.suites.fuzz.repeat FILE`."""

import json
import sys
from pathlib import Path

from tests.suites.fuzz.targets import TARGETS


def main() -> None:
    """Whatever escapes is shown as it is."""
    found = json.loads(Path(sys.argv[1]).read_text())
    TARGETS[found["target"]].give(found["input"])


if __name__ == "__main__":
    main()
