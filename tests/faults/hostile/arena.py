"""A real daemon with one hostile manifest beside fifty honest ones: what the honest ones feel of it.

Every 50 ms it is asked whether it lives. `gap` is the longest time that an answer took; `own` is that
without the time in which the daemon's main thread was ready to run and had no processor; `busy` is how
long it ran. On a busy machine `own` counts what its other threads wait for one while they hold Python's lock.
"""

import http.client
import json
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from tests.faults.hostile.manifests import API, NAME, Document, Hostile, written
from tests.real.e2e.manifests import replaced
from tests.real.e2e.process import Daemon, SocketConnection, body_of, daemon, server_process
from tests.support.servers.endless import environment

HONEST: Final = 50
EVERY: Final = 2.0
BEAT: Final = 0.05
ASKED_EVERY: Final = 0.5
LEAST: Final = 4.0
"""Seconds for which it is looked at: every honest object is due twice."""
MOST: Final = 40.0
SILENT: Final = 8.0
"""Seconds without an answer after which a daemon is killed."""
LARGEST: Final = 900.0
"""MiB over its base with which a daemon is killed, before it takes all that the machine has."""
WEIGHED_EVERY: Final = 0.02
DRAIN: Final = 21.0
"""Seconds that a stop may take: drainTimeout, and one to end in."""


@dataclass(slots=True)
class Outcome:
    """What came of one manifest. Times in seconds, memory in MiB of all processes of the daemon."""

    name: str
    gap: float = 0.0
    own: float = 0.0
    busy: float = 0.0
    status: float = 0.0
    """How long the slowest `/status` took, which is as long as there are objects."""
    base: float = 0.0
    peak: float = 0.0
    delivered: int = 0
    delivered_after: float = 0.0
    oldest: float = 0.0
    """The age that an honest value reached after its first delivery."""
    condition: str = ""
    ready: bool | None = None
    problems: tuple[str, ...] = ()
    stopped_after: float = 0.0
    exit_code: int | None = None
    killed: str = ""
    log: str = field(default="", repr=False)

    @property
    def over(self) -> float:
        """The peak over what the daemon takes without the manifest."""
        return self.peak - self.base

    def ended_as(self, hostile: Hostile) -> bool:
        """Whether the hostile object, or its manifest, ended as the table says."""
        match hostile.end:
            case "ready":
                return self.ready is True
            case "not ready":
                return self.ready is False and _says(hostile, self.condition)
            case "refused":
                return any(_says(hostile, problem) for problem in self.problems)
            case "any":
                told = (self.condition, *self.problems)
                return self.ready is True or any(_says(hostile, text) for text in told)

    def __str__(self) -> str:
        return (
            f"{self.name:22} gap {self.gap:5.2f} s (own {self.own:5.2f}, busy {self.busy:5.2f}, "
            f"/status {self.status:5.2f})  "
            f"peak {self.peak:4.0f} MiB (+{self.over:.0f})  "
            f"{self.delivered} delivered after {self.delivered_after:4.1f} s, oldest {self.oldest:4.1f} s  "
            f"exit {self.exit_code} after {self.stopped_after:4.1f} s  "
            f"{(self.killed or self.condition or ', '.join(self.problems[:1]))[:160]}"
        )


def _says(hostile: Hostile, text: str) -> bool:
    return re.search(hostile.says, text) is not None


class _Gone(Exception):
    """The daemon is silent, too large, or no more."""


def faced(folder: Path, hostile: Hostile, chance: random.Random, most: float = MOST) -> Outcome:
    """Let a daemon face one manifest, for so many seconds at most."""
    outcome = Outcome(hostile.name)
    manifests = folder / "manifests"
    manifests.mkdir(parents=True)
    with server_process("tests.faults.hostile.server") as url:
        (manifests / "honest-store.yaml").write_text(written(_store(url), _honest(0)))
        with daemon(folder, manifests, ready=True, **environment(url)) as running:
            try:
                with _weighed(running, outcome):
                    _face(running, manifests, hostile, url, outcome, most)
                    _stop(running, hostile, outcome, chance)
            except _Gone as gone:
                outcome.killed = outcome.killed or str(gone)
            outcome.log = running.stderr
    return outcome


def _face(
    running: Daemon, manifests: Path, hostile: Hostile, url: str, outcome: Outcome, most: float
) -> None:
    text = hostile.manifest(url)
    watch = _Watch(running, outcome)
    out = running.folder.parent / "out" / "honest"
    begin = time.monotonic()
    replaced(manifests / f"evil{hostile.suffix}", text)
    replaced(manifests / "honest.yaml", written(*(_honest(number) for number in range(1, HONEST + 1))))
    with _asked(running, hostile, outcome):
        for now in watch.beats():
            fresh = list(_written(out))
            if outcome.delivered < HONEST:
                outcome.delivered, outcome.delivered_after = len(fresh), now - begin
            else:
                outcome.oldest = max(outcome.oldest, time.time() - min(fresh))
            ended = outcome.delivered == HONEST and outcome.ended_as(hostile)
            if now - begin > (LEAST if ended else most):
                return


@contextmanager
def _asked(running: Daemon, hostile: Hostile, outcome: Outcome) -> Generator[None, None, None]:
    """Within this block the control socket is asked, again and again, what became of the hostile object."""
    over = threading.Event()

    def ask() -> None:
        while not over.wait(ASKED_EVERY):
            begin = time.monotonic()
            try:
                told = body_of(SocketConnection(running.socket, 2 * SILENT), "/status")
            except (OSError, http.client.HTTPException):
                continue  # the heartbeats tell whether it lives
            outcome.status = max(outcome.status, time.monotonic() - begin)
            _look(json.loads(told), hostile, outcome)

    asking = threading.Thread(target=ask, name="status")
    asking.start()
    try:
        yield
    finally:
        over.set()
        asking.join()


def _look(status: Document, hostile: Hostile, outcome: Outcome) -> None:
    """What the daemon says of the hostile object."""
    outcome.problems = tuple(f"{each['path']}: {each['message']}" for each in status["problems"])
    for row in [*status["objects"], *status["stores"]]:
        if (row["kind"], row["namespace"], row["name"]) == (hostile.kind, hostile.namespace, NAME):
            failure = row["lastFailure"]["message"] if row["lastFailure"] else ""
            running = row["runningSeconds"]
            at_work = "" if running is None else f"runs for {running:.0f} s"
            outcome.ready, outcome.condition = row["ready"], failure or row["message"] or at_work


def _stop(running: Daemon, hostile: Hostile, outcome: Outcome, chance: random.Random) -> None:
    """SIGTERM while the hostile object runs."""
    named = urlencode({"kind": hostile.kind, "namespace": hostile.namespace, "name": NAME})
    body_of(SocketConnection(running.socket), f"/refresh?{named}", "POST")
    time.sleep(chance.uniform(0, 0.2))
    begin = time.monotonic()
    try:
        running.send(signal.SIGTERM)
        outcome.exit_code = running.process.wait(2 * DRAIN)
    except subprocess.TimeoutExpired:
        raise _Gone("ignores SIGTERM") from None
    outcome.stopped_after = time.monotonic() - begin


class _Watch:
    """The heartbeats."""

    def __init__(self, running: Daemon, outcome: Outcome) -> None:
        self._running = running
        self._outcome = outcome

    def beats(self) -> Iterator[float]:
        """The time after each heartbeat, for as long as somebody listens."""
        address = self._running.address
        while True:
            begin = time.monotonic()
            self._timed(http.client.HTTPConnection(*address, timeout=SILENT))
            yield time.monotonic()
            time.sleep(max(0.0, begin + BEAT - time.monotonic()))

    def _timed(self, connection: http.client.HTTPConnection) -> None:
        pid = self._running.process.pid
        (busy, delay), begin = _ran_and_waited(pid), time.monotonic()
        try:
            body_of(connection, "/healthz")
        except (OSError, http.client.HTTPException) as error:
            outcome, ended = self._outcome, self._running.process.poll() is not None
            outcome.gap = outcome.own = time.monotonic() - begin
            raise _Gone(outcome.killed or ("ended" if ended else f"no answer: {error!r}")) from None
        taken = time.monotonic() - begin
        busy_now, delay_now = _ran_and_waited(pid)
        self._outcome.gap = max(self._outcome.gap, taken)
        self._outcome.own = max(self._outcome.own, taken - (delay_now - delay))
        self._outcome.busy = max(self._outcome.busy, busy_now - busy)


@contextmanager
def _weighed(running: Daemon, outcome: Outcome) -> Generator[None, None, None]:
    """What memory the daemon takes within this block; it is killed before it takes all that there is."""
    over = threading.Event()

    def weigh() -> None:
        while not over.wait(WEIGHED_EVERY):
            outcome.peak = max(outcome.peak, resident(running.process.pid))
            if outcome.over > LARGEST:
                outcome.killed = f"took {outcome.over:.0f} MiB"
                running.process.kill()
                return

    outcome.base = outcome.peak = resident(running.process.pid)
    scale = threading.Thread(target=weigh, name="memory")
    scale.start()
    try:
        yield
    finally:
        over.set()
        scale.join()


def resident(pid: int) -> float:
    """Resident memory of a process and all below it, in MiB; 0 if it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+)", status)
    own = int(found[1]) / 1024 if found else 0.0
    return own + sum(resident(int(child)) for child in children)


def _ran_and_waited(pid: int) -> tuple[float, float]:
    """Seconds that the main thread ran, and that it was ready to run and waited for a processor."""
    try:
        ran, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0, 0.0
    return int(ran) / 1e9, int(waited) / 1e9


def _store(url: str) -> Document:
    metadata = {"name": "honest", "namespace": "honest"}
    spec = {"provider": {"webhook": {"url": f"{url}/honest/{{{{ .remoteRef.key }}}}"}}}
    return {"apiVersion": API, "kind": "SecretStore", "metadata": metadata, "spec": spec}


def _honest(number: int) -> Document:
    """An ExternalSecret of somebody else; number 0 is there before the hostile one."""
    spec = {
        "refreshInterval": f"{EVERY:g}s",
        "secretStoreRef": {"name": "honest"},
        "data": [{"secretKey": "v", "remoteRef": {"key": f"key-{number}"}}],
    }
    metadata = {"name": f"honest-{number}", "namespace": "honest"}
    return {"apiVersion": API, "kind": "ExternalSecret", "metadata": metadata, "spec": spec}


def _written(out: Path) -> Iterator[float]:
    """When each honest value that is there was delivered."""
    for number in range(1, HONEST + 1):
        with suppress(FileNotFoundError):
            yield (out / f"honest-{number}" / "v").stat().st_mtime
