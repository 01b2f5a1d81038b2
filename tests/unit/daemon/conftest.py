"""What tests of several parts of the daemon use."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that every user can enter, as pytest's own are not."""
    with TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
