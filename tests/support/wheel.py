"""The product's wheel, built from a copy of the tree, as from a source distribution."""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.support.debian import ROOT, run

ROOMS = ("config", "daemon", "providers")


def build_wheel(folder: Path) -> Path:
    """Build into the folder; in the tree itself, setuptools would pick up what an earlier build left."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        for room in ROOMS:
            shutil.copytree(ROOT / room, tree / room, ignore=shutil.ignore_patterns("__pycache__"))
        for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            shutil.copy(ROOT / file, tree)
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", f"--outdir={folder}", tree)
    (wheel,) = folder.glob("*.whl")
    return wheel
