"""How long `syncret release` takes, as a whole process, by the number of sensitive fields."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from bench.estate import SYNCRET
from bench.figures import Figure
from syncret.config.meta import Document

SIZES: Final = (1_000, 2_000, 5_000, 10_000)
CONTAINERS: Final = 50
ROUNDS: Final = 9
GOAL, START_GOAL, LINEAR = 0.6, 1.3, 1.2


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """Fifty containers; ten times as many fields may take little more than ten times the processor time."""
    rounds = 2 if smoke else ROUNDS
    times: dict[int, _Times] = {}
    for size in (20, 40) if smoke else SIZES:
        path = folder / f"release-{size}.json"
        path.write_text(json.dumps(_documents(size)))
        times[size] = _times([SYNCRET, "release", "-f", str(path)], rounds)
    (small, first), *_, (large, last) = times.items()
    yield Figure(
        f"`syncret release`, {small:,} sensitive fields, {CONTAINERS} containers, whole process",
        f"<= {GOAL:g} s",
        str(first),
        first.whole <= GOAL,
    )
    growth = last.processor / first.processor / (large / small)
    curve = "; ".join(f"{size:,}: {each}" for size, each in times.items())
    yield Figure("- with more fields", "linear", f"{curve}; {growth:.2f} x linear", growth <= LINEAR)
    helped, started = (
        _times([SYNCRET, *command], rounds * 2) for command in (["--help"], ["release", "--help"])
    )
    ratio = started.processor / helped.processor
    yield Figure(
        "- start of the command: `syncret release --help`, processor time",
        f"<= {START_GOAL:g} x `syncret --help`",
        f"{ratio:.2f} x ({started.processor * 1000:.0f} ms / {helped.processor * 1000:.0f} ms)",
        ratio <= START_GOAL,
    )


def _documents(fields: int) -> Document:
    """A List of a module, a release and a platform: a third literals, a third references of each sort."""
    config = {f"f{number}": _leaf(number) for number in range(fields)}
    values = {f"f{number}": _fulfilment(number) for number in range(fields)}
    containers = {
        f"c{place}": {
            "image": "registry.example/app:1",
            "env": {f"F{n}": {"from": f"config.f{n}"} for n in range(place, fields, CONTAINERS)},
        }
        for place in range(CONTAINERS)
    }
    kinds: list[tuple[str, Document]] = [
        ("Module", {"config": config, "containers": containers}),
        ("Release", {"values": values}),
        ("Platform", {"secretStoreRef": {"name": "platform"}}),
    ]
    items = [
        {"apiVersion": "syncret.dev/v1alpha1", "kind": kind, "metadata": {"name": "app"}, "spec": spec}
        for kind, spec in kinds
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _leaf(number: int) -> Document:
    name = f"secret-{number % 3}-{number // 60}"
    return {
        "$opm": "secret",
        "$secretName": name,
        "$dataKey": f"key-{number}",
        "$constraints": {"minRunes": 8},
    }


def _fulfilment(number: int) -> Document:
    match number % 3:
        case 0:
            return {"value": f"value-number-{number}"}
        case 1:
            return {"path": "existing", "remoteKey": f"key-{number}"}
        case _:
            return {"source": "k8s-eso", "path": f"app/{number}", "remoteKey": "password"}


class _Times(NamedTuple):
    """Medians of the seconds that a process takes, and of its processor time."""

    whole: float
    processor: float

    def __str__(self) -> str:
        return f"{self.whole:.2f} s (processor {self.processor:.2f} s)"


def _times(command: Sequence[str], rounds: int) -> _Times:
    whole: list[float] = []
    processor: list[float] = []
    for _ in range(rounds):
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        whole.append(time.perf_counter() - begin)
        processor.append(used.ru_utime + used.ru_stime)
    return _Times(median(whole), median(processor))
