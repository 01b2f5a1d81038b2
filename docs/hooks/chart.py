"""Writes charts/syncret from the code that renders an installation (`make chart`); a test compares."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree
from typing import Final

from syncret.daemon.install.chart.files import files
from syncret.providers.registry import Registry

CHART: Final = Path(__file__).parents[2] / "charts" / "syncret"


def made() -> Mapping[str, str]:
    """The text of each file, by its path below the chart."""
    return files(Registry(), version("syncret"))


def main() -> None:
    """Write all files, and remove what is none of them."""
    rmtree(CHART, ignore_errors=True)
    for name, text in made().items():
        path = CHART / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
