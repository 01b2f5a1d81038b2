"""What the code of each provider costs where a store names it, beside what all of them share; and its lines.

Each provider is imported whole, every module of its package, by a process of its own that has the kit,
asyncio, aiohttp and cryptography already. Processor time is the least of some rounds; other work adds to it.
"""

import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from bench.figures import Figure
from syncret.providers import builtin

ROUNDS: Final = 3
MILLISECONDS, MEGABYTES = 15.0, 3.0

OWN_SDK: Final[Mapping[str, str]] = {
    "aws": "aioboto3, with botocore",
    "onepasswordSDK": "onepassword-sdk, with pydantic",
    "openBao": "hvac",
    "vault": "hvac",
}
"""Providers that call the manager with a library."""

LATER: Final[Mapping[str, str]] = {"onepasswordSDK": "onepassword", "passbolt": "pysequoia"}
"""What the first login of a provider imports."""

_IMPORT: Final = """
import json, sys, time
import aiohttp, asyncio, cryptography.hazmat.primitives.serialization
import syncret.providers.kit.auth.jwt, syncret.providers.kit.batching, syncret.providers.kit.extract
import syncret.providers.kit.golang.json, syncret.providers.kit.golang.regexp, syncret.providers.kit.paging
import syncret.providers.kit.rest.connection, syncret.providers.kit.rest.texts, syncret.providers.registry
def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
memory, begin = held(), time.process_time()
for name in sys.argv[1:]:
    __import__(name)
print(json.dumps([time.process_time() - begin, held() - memory]))
"""


class Cost(NamedTuple):
    """Of one provider."""

    milliseconds: float
    megabytes: float
    lines: int

    def __str__(self) -> str:
        return f"{self.milliseconds:.1f} ms, {self.megabytes:.1f} MB, {self.lines} lines"


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """A row for each provider, then their lines."""
    del folder
    names = sorted(builtin.STORES, key=str.lower)
    costs = {name: _cost(name, 1 if smoke else ROUNDS) for name in (names[:2] if smoke else names)}
    for name, cost in costs.items():
        cheap = cost.milliseconds <= MILLISECONDS and cost.megabytes <= MEGABYTES
        goal = OWN_SDK.get(name, f"<= {MILLISECONDS:g} ms, {MEGABYTES:g} MB")
        yield Figure(f"import of `{name}`, over the kit", goal, str(cost), None if name in OWN_SDK else cheap)
    lines = {name: cost.lines for name, cost in costs.items()}
    longest = max(lines, key=lambda name: lines[name])
    middle = f"median {median(lines.values()):.0f}; longest `{longest}`, {lines[longest]}"
    yield Figure(f"lines of a provider, of {len(lines)}", "", middle)


def _cost(name: str, rounds: int) -> Cost:
    package = builtin.STORES[name].partition(":")[0]
    modules = {package: _source(package)}
    for found in pkgutil.walk_packages([str(modules[package].parent)], f"{package}."):
        modules[found.name] = _source(found.name)
    later = [LATER[name]] if name in LATER else []
    ran = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", _IMPORT, *modules, *later], check=True, capture_output=True, text=True
            ).stdout
        )
        for _ in range(rounds)
    ]
    seconds, held = min(each[0] for each in ran), min(each[1] for each in ran)
    return Cost(seconds * 1000, held / 2**20, sum(_lines(each) for each in modules.values()))


def _source(module: str) -> Path:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def _lines(file: Path) -> int:
    """Lines that are not blank."""
    return sum(bool(line.strip()) for line in file.read_text().splitlines())
