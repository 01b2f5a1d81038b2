"""Measures, and prints one table: `python -m bench [--smoke] [NAME ...]`."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

from bench.figures import Figure, table

MEASURES: Final = (
    "start",
    "at_rest",
    "first_sync",
    "timers",
    "scheduled",
    "sharing",
    "flood",
    "hanging",
    "vault",
    "aws",
    "kubernetes",
    "peer",
    "templates",
    "path",
    "delivery",
    "program",
    "cache",
    "compare",
    "exports",
    "exporting",
    "hostile",
    "imports",
    "release",
)


PLACES: Final = {
    "kubernetes": "clusters.alone",
    "peer": "clusters.beside",
    "exporting": "clusters.exporting",
}
"""The modules of the measures that are in a folder."""

LONG: Final = ("hostile",)
"""Measures that take so long that they must be named, or be tiny."""

APART: Final = ("peer",)
"""Those that must be named in any case: the operator is built for it."""


class Measure(Protocol):
    """A module of this package that measures."""

    measure: Callable[..., Iterator[Figure]]


def main() -> int:
    """Exit code 0 also where a goal was missed: the table says so, and the machine may have been busy."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(MEASURES)}")
    parser.add_argument("--smoke", action="store_true", help="everything tiny: does it still run?")
    options = parser.parse_args()
    unknown = set(options.names) - set(MEASURES)
    if unknown:
        parser.error(f"no such measure: {', '.join(sorted(unknown))}")
    # An installed program has its bytecode beside it; a setting of this shell must not make it compile anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    build = Path(__file__).parents[1] / "build"
    build.mkdir(exist_ok=True)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=build) as folder:
        left_out = APART if options.smoke else (*LONG, *APART)
        for name in options.names or [name for name in MEASURES if name not in left_out]:
            module = cast("Measure", import_module(f"bench.{PLACES.get(name, name)}"))
            for figure in module.measure(Path(folder), smoke=options.smoke):
                figures.append(figure)
                sys.stderr.write(f"{figure.measure}: {figure.figure}\n")
    print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
