"""Floods: ten thousand changes to one object within a second, and a hundred answers of 8 MiB at once."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.estate import SHARED_MEMORY, Estate, daemon, estate
from bench.figures import Figure
from tests.faults.measureless import LIMIT, READS, STORES, weighed

CHANGES: Final = 10_000
RECONCILES: Final = 3
LONGEST_WAIT: Final = 20.0
METRIC: Final = "externalsecret_sync_calls_total"


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """How often the object is reconciled, and what wins; what memory the answers take at most."""
    yield from _changes(folder, smoke=smoke)
    stores = STORES[-1:] if smoke else STORES
    taken = weighed(folder / "answers", "large", stores)
    yield Figure(
        f"{READS} answers of 8 MiB of {len(stores)} stores at once: peak of memory above the base",
        f"<= {LIMIT:.0f} MiB",
        f"{taken.over:.0f} MiB",
        taken.over <= LIMIT,
    )


def _changes(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """A daemon on a host; its one manifest is replaced again and again by a writer in a hurry."""
    changes = 100 if smoke else CHANGES
    parent = SHARED_MEMORY if SHARED_MEMORY.is_dir() else folder  # few disks take ten thousand files a second
    with estate(1, parent) as host, daemon(host, "fsync=false") as running:
        before = running.count(METRIC)
        seconds = _replace(host, changes)
        newest = host.outputs / "team-000" / "app-00000" / f"key-{changes - 1}"
        deadline = time.monotonic() + LONGEST_WAIT
        while not newest.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2 if smoke else 3.0)
        reconciles = running.count(METRIC) - before
        won = newest.exists()
    yield Figure(
        f"{changes} changes to one object within {seconds:.2f} s: reconciles",
        f"<= {RECONCILES}, newest wins",
        f"{reconciles:g}, {'the newest won' if won else 'the newest was lost'}",
        reconciles <= RECONCILES and won,
    )


def _replace(host: Estate, changes: int) -> float:
    """Evenly over a second, as far as the disk can follow; bare system calls, so that it can."""
    manifest, hidden = (os.fsencode(host.manifests / name) for name in ("team-000.yaml", ".next"))
    text = (host.manifests / "team-000.yaml").read_text()
    versions = [
        text.replace("secretKey: username", f"secretKey: key-{number}").encode() for number in range(changes)
    ]
    begin = time.perf_counter()
    for number, version in enumerate(versions, 1):
        descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, version)
        os.close(descriptor)
        os.rename(hidden, manifest)  # noqa: PTH104  # as cheap as can be
        ahead = begin + number / changes - time.perf_counter()
        if ahead > 0.002:  # noqa: PLR2004  # shorter sleeps oversleep
            time.sleep(ahead)
    return time.perf_counter() - begin
