"""What repeats does not flood the log: one line for each object that fails, and one when it is over."""

import threading
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.faults.manager import VALUE, estate, manager
from tests.real.e2e.manifests import written
from tests.real.e2e.process import daemon

pytestmark = pytest.mark.slow

OBJECTS: Final = 50


def test_objects_that_fail_again_and_again(tmp_path: Path) -> None:
    mended = threading.Event()
    with manager(lambda: VALUE if mended.is_set() else b"<html>maintenance</html>") as port:
        manifests = written(tmp_path / "manifests", all=estate("s", port, OBJECTS, "1s"))
        with daemon(tmp_path, manifests) as running:
            reads = partial(running.metric, "externalsecret_provider_api_calls_count", call="HTTPRequest")
            running.until(lambda: reads() >= 6 * OBJECTS, "each tried several times")
            failures = [line for line in running.stderr.splitlines() if "[warning" in line]
            assert len(failures) == OBJECTS
            mended.set()
            running.said("the object is in order again", times=OBJECTS)
            assert running.ask("status").returncode == 0
