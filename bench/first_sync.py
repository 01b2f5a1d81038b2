"""The first sync of many objects against a bare loop of the system calls that their files need.

The two take turns, a quarter of a second each: the sync runs in a process that is stopped meanwhile.
The clock of the sync is that of its turns alone.
"""

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from select import select
from typing import Final

from bench.estate import SHARED_MEMORY, Estate, estate, worker
from bench.figures import Figure
from syncret.config.settings import Settings
from syncret.daemon.cli.dispatch import NEW_OBJECTS
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry

OBJECTS: Final = 10_000
GOAL: Final = 0.6
TURN: Final = 0.25


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """On the disk of this repository, and in memory where there is such a folder."""
    places = [("disk", folder)]
    if SHARED_MEMORY.is_dir():
        places.append(("memory", SHARED_MEMORY))
    for place, parent in places:
        with estate(50 if smoke else OBJECTS, parent) as host:
            for fsync in (False, True):
                host.clear()
                yield from _compare(host, 50 if smoke else OBJECTS, place, fsync=fsync)


def _compare(host: Estate, objects: int, place: str, *, fsync: bool) -> Iterator[Figure]:
    loop = BareLoop(host.folder / "bare", fsync=fsync)
    times = {"load": 0.0, "sync": 0.0, "report": 0.0}
    with worker("first_sync", folder=str(host.folder), fsync=fsync) as process:
        phase = "load"
        while phase:
            phase, times = _turn(process, phase, times)
            if phase:
                process.send_signal(signal.SIGSTOP)
                loop.run_for(TURN)
                process.send_signal(signal.SIGCONT)
        assert process.wait() == 0
    loop.run_for(TURN)
    assert sum(len(files) for _, _, files in os.walk(host.outputs)) == 2 * objects
    bare = loop.seconds / loop.count * objects
    syncing = times["load"] + times["sync"]
    what = f"first sync of {objects}, {place}, fsync {'on' if fsync else 'off'}"
    yield Figure(
        what,
        f">= {GOAL:.0%} of a bare loop",
        f"{bare / syncing:.0%} ({syncing:.1f} s / {bare:.1f} s)",
        bare / syncing >= GOAL,
    )
    yield Figure(
        "- of that, once the manifests are read",
        "",
        f"{bare / times['sync']:.0%} (reading {times['load']:.1f} s, syncing {times['sync']:.1f} s)",
    )


def _turn(
    process: subprocess.Popen[str], phase: str, times: dict[str, float]
) -> tuple[str, dict[str, float]]:
    """Let the process run for its turn, and book the time under the phases it passes."""
    assert process.stdout is not None
    begin = time.perf_counter()
    end = begin + TURN
    while (now := time.perf_counter()) < end:
        ready, _, _ = select([process.stdout], [], [], end - now)
        if ready:
            line = process.stdout.readline()
            moment = time.perf_counter()
            times[phase] += moment - begin
            begin = moment
            phase = json.loads(line)["phase"] if line else ""
            if not phase:
                return "", times
    times[phase] += time.perf_counter() - begin
    return phase, times


class BareLoop:
    """Makes folders of two files as a careful program must: complete and owned before they get their name."""

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self._fsync = fsync
        self.prefix = "on" if fsync else "off"
        self.count = 0
        self.seconds = 0.0

    def run_for(self, seconds: float) -> None:
        begin = time.perf_counter()
        while (now := time.perf_counter()) < begin + seconds:
            self._one(f"{self.prefix}-{self.count}")
            self.count += 1
        self.seconds += now - begin

    def _one(self, name: str) -> None:
        hidden = f".{name}"
        os.mkdir(hidden, 0o700, dir_fd=self._folder)
        folder = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        for key in ("username", "password"):
            fd = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
            os.fchmod(fd, 0o600)
            os.write(fd, b"value-100")
            if self._fsync:
                os.fsync(fd)
            os.close(fd)
        os.fchmod(folder, 0o700)
        if self._fsync:
            os.fsync(folder)
        os.close(folder)
        os.rename(hidden, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        if self._fsync:
            os.fsync(self._folder)


def _work(folder: str, *, fsync: bool) -> None:
    """The process that is measured: says when it begins and ends to reconcile."""
    host = Estate(Path(folder))
    settings = Settings(
        manifests=(str(host.manifests),),
        output_dir=str(host.outputs),
        state_file=str(host.state),
        fsync=fsync,
    )
    gc.set_threshold(NEW_OBJECTS)  # as the command does
    said: set[str] = set()

    def progress(done: int, total: int) -> None:
        phase = "report" if done == total else "sync"
        if phase not in said:
            said.add(phase)
            print(json.dumps({"phase": phase}), flush=True)

    result = asyncio.run(one_pass(settings, Registry(), progress=progress))
    assert not result.failures
    assert not result.invalid


if __name__ == "__main__":
    _work(**json.loads(sys.argv[1]))
