"""A real daemon whose manifests are damaged again and again: it lives, answers, and tells no value."""

import atexit
import http.client
import tempfile
import time
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import yaml

from syncret.config.fields import Json
from tests.faults.hostile.arena import resident
from tests.real.e2e.manifests import replaced
from tests.real.e2e.process import Daemon, body_of, daemon, server_process
from tests.suites.fuzz import mutation, objects
from tests.support.canary import leaks
from tests.support.servers.endless import environment

MANIFESTS: Final = 10
"""Written at once."""

WATCHED: Final = 1.0
SILENT: Final = 10.0
"""Seconds without an answer, on a busy machine."""

GROWN: Final = 300.0
"""MiB over what it took at its start."""


class _Fuzzed:
    """The daemon of this process."""

    def __init__(self, folder: Path, running: Daemon, url: str) -> None:
        self.folder, self.running, self.url = folder, running, url
        self.base = resident(running.process.pid)
        self.read = 0

    def alive(self) -> None:
        """Raises where it is gone, silent or has grown."""
        begin = time.monotonic()
        while time.monotonic() < begin + WATCHED:
            body_of(http.client.HTTPConnection(*self.running.address, timeout=SILENT), "/healthz")
            grown = resident(self.running.process.pid) - self.base
            assert grown < GROWN, f"{grown:.0f} MiB more than at its start"
            time.sleep(0.05)
        assert self.running.process.poll() is None

    def told(self) -> str:
        """What it logged since the last case, and says of its objects."""
        log = self.running.stderr
        new, self.read = log[self.read :], len(log)
        assert "Traceback" not in new, new
        assert "internal error" not in new, new
        return new + str(self.running.status_document())


@cache
def _running() -> _Fuzzed:
    stack = ExitStack()
    atexit.register(stack.close)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fuzz-")))
    url = stack.enter_context(server_process("tests.faults.hostile.server"))
    manifests = folder / "manifests"
    manifests.mkdir()
    running = stack.enter_context(
        daemon(folder, manifests, "--set", "deletionGrace=0", ready=False, **environment(url))
    )
    running.until(lambda: "metrics: http" in running.stdout, "started")
    return _Fuzzed(manifests, running, url)


def make(chance: Random) -> list[str]:
    """Some manifests, as texts."""
    return [_text(chance) for _ in range(MANIFESTS)]


def _text(chance: Random) -> str:
    if not chance.randrange(4):
        return mutation.text(chance, objects.samples())
    return _written(objects.make(chance))


def _written(documents: list[Json]) -> str:
    return yaml.safe_dump_all(documents, allow_unicode=True)


def give(texts: list[str]) -> None:
    """Replace the manifests by these."""
    fuzzed = _running()
    for number, text in enumerate(texts):
        data = (
            text.replace(objects.SERVER, fuzzed.url)
            .encode("utf-8", "surrogateescape")
            .decode("utf-8", "replace")
        )
        replaced(fuzzed.folder / f"{number}.yaml", data)
    fuzzed.alive()
    found = leaks("the daemon", fuzzed.told())
    assert not found, found
