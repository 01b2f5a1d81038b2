"""The product's distributions, as `make dist` builds them."""

import sys
from pathlib import Path

from tests.support.debian import ROOT, run

ROOMS = ("config", "daemon", "providers")


def build_dist(folder: Path, **environment: str) -> tuple[Path, Path]:
    """Build the wheel and the source distribution into the folder."""
    run(ROOT / ".ci" / "dist", Path(sys.executable).parent, folder, **environment)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source
