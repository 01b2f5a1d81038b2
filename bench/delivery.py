"""Deliveries on a host: a changed set against a bare loop of the same calls, and a start without changes."""

import asyncio
import contextlib
import json
import os
import shutil
import statistics
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bench.figures import Figure, p99
from syncret.config.resources.kinds import DELIVERY
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.delivery.opening import deliveries_of
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.filesystem.home import HostHome
from syncret.daemon.homes.filesystem.opening import host_home
from syncret.providers.registry import Registry

KEYS: Final = 20
ROUNDS: Final = 40
SHARE: Final = 2
LATE: Final = 0.1
MANY: Final = 1000
"""Deliveries that have nothing to do at a start."""


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """All figures of deliveries."""
    rounds, many = (3, 20) if smoke else (ROUNDS, MANY)
    ours, bare = asyncio.run(_changes(folder / "live", rounds))
    ratio = statistics.median(ours) / statistics.median(bare)
    yield Figure(
        f"a set of {KEYS} keys changed, until it is live",
        f"<= {SHARE} x a bare loop of its writes, fsyncs and renames",
        f"{ratio:.1f} x ({statistics.median(ours) * 1000:.0f} ms / {statistics.median(bare) * 1000:.0f} ms)",
        ratio <= SHARE,
    )
    notified, _ = asyncio.run(_changes(folder / "notified", rounds, reload=["/usr/bin/true"]))
    late = p99(notified)
    figure = f"{late * 1000:.0f} ms"
    yield Figure("- until its program is reloaded, p99", f"<= {LATE * 1000:.0f} ms", figure, late <= LATE)
    seconds, touched = asyncio.run(_start(folder / "start", many))
    yield Figure(
        f"{many} Deliveries unchanged at a start",
        "<= 1 s, nothing touched",
        f"{seconds:.2f} s, {touched} touched",
        seconds <= 1 and not touched,
    )


@asynccontextmanager
async def _daemon(folder: Path) -> AsyncGenerator[tuple[HostHome, RunningEngine], None]:
    """A daemon on these manifests, without its services."""
    settings = Settings(
        manifests=(str(folder / "manifests"),),
        output_dir=str(folder / "out"),
        state_file=str(folder / "state.db"),
    )
    registry, clock = Registry(), Clock()
    home = host_home(settings, registry, now=clock.now, on_problems=lambda _: None)
    async with home:
        hooks = EngineOverrides(deliveries=deliveries_of(settings, home.digest_key))
        async with run_engine(
            home, registry=registry, settings=settings, clock=clock, hooks=hooks
        ) as running:
            await running.engine.wait_idle()
            yield home, running


def _write(folder: Path, document: dict[str, Any]) -> None:
    path = folder / "manifests" / f"{document['kind']}-{document['metadata']['name']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))


def _secret(name: str, value: str) -> dict[str, Any]:
    data = {f"key-{number}": f"{value}-{number}" for number in range(KEYS)}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def _delivery(name: str, source: str, path: Path, **spec: Any) -> dict[str, Any]:  # noqa: ANN401  # any field
    return {
        "apiVersion": DELIVERY.api_version,
        "kind": DELIVERY.kind,
        "metadata": {"name": name},
        "spec": {
            "sources": [{"secret": source}],
            "to": [{"directory": {"path": str(path)}}],
            "debounce": {"quiet": "0s", "atMost": "0s"},
            "minInterval": "0s",
            **spec,
        },
    }


async def _changes(
    folder: Path, rounds: int, *, reload: list[str] | None = None
) -> tuple[list[float], list[float]]:
    """Seconds from reading a changed manifest to the live set and its reload; and those of a bare loop."""
    srv = folder / "srv"
    srv.mkdir(parents=True)
    _write(folder, _secret("tls", "first"))
    _write(folder, _delivery("web", "tls", srv / "tls", **({"reload": {"exec": reload}} if reload else {})))
    ours: list[float] = []
    bare: list[float] = []
    async with _daemon(folder) as (home, running):
        for number in range(rounds):
            _write(folder, _secret("tls", f"value-{number}"))
            begin = time.perf_counter()
            await home.look()
            await running.engine.wait_idle()
            ours.append(time.perf_counter() - begin)
            assert (srv / "tls" / "key-0").read_text() == f"value-{number}-0"
            bare.append(_bare(folder / "bare", number))
    return ours, bare


def _bare(folder: Path, number: int) -> float:
    """The same files, fsyncs and renames."""
    begin = time.perf_counter()
    fresh = folder / str(number)
    fresh.mkdir(parents=True)
    for key in range(KEYS):
        with (fresh / f"key-{key}").open("wb") as file:
            os.fchmod(file.fileno(), 0o400)
            file.write(f"value-{number}-{key}".encode())
            file.flush()
            os.fsync(file.fileno())
    for path in (fresh, folder):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
    fresh.rename(folder / f"live-{number}")
    return time.perf_counter() - begin


async def _start(folder: Path, many: int) -> tuple[float, int]:
    """Seconds that the runs of so many Deliveries take where nothing is to be done, and how many wrote."""
    srv = folder / "srv"
    srv.mkdir(parents=True)
    _write(folder, _secret("tls", "same"))
    for number in range(many):
        _write(folder, _delivery(f"d{number}", "tls", srv / f"d{number}"))
    async with _daemon(folder):
        pass
    before = {path: _seen(path) for path in srv.iterdir()}
    assert len(before) == many
    async with _daemon(folder) as (_, running):
        begin = time.perf_counter()
        running.engine.requeue_all()
        await asyncio.sleep(0)
        await running.engine.wait_idle()
        seconds = time.perf_counter() - begin
    touched = sum(_seen(path) != seen for path, seen in before.items())
    with contextlib.suppress(OSError):
        shutil.rmtree(srv)
    return seconds, touched


def _seen(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns
