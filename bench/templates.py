"""Templates against Go's engine: rendering, parsing, rewrites; and what they add to a first sync.

All in processor time: the machine may be busy with other things.
"""

import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import geometric_mean, median
from typing import Final, cast

import msgspec

from bench.estate import SHARED_MEMORY, Estate, estate, worker
from bench.figures import Figure
from bench.typical import DATA, GROUPS
from syncret.config.resources.external_secret import Rewrite
from syncret.config.settings import Settings
from syncret.daemon.core import assemble
from syncret.daemon.core.templating import operator
from syncret.daemon.engine.templates import Templates
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from syncret.providers.work import Work
from tests.suites.oracle.cases import material
from tests.suites.oracle.client import Oracle

RENDER_GOAL: Final = 12
PARSE_GOAL: Final = 25
REWRITE_GOAL: Final = 10
SYNC_GOAL: Final = 1.6
OBJECTS: Final = 10_000
KEYS: Final = 1_000
WARM_UP: Final = 10
TURN: Final = 0.02
"""Seconds of one side."""

TEMPLATE: Final = """\
  target:
    template:
      data:
        config.ini: |
          [database]
          user = {{ .username }}
          password = {{ .password | quote }}
"""
OPERATIONS: Final[list[dict[str, object]]] = [
    {"regexp": {"source": "^team/(.*)$", "target": "$1"}},
    {"regexp": {"source": "[^a-zA-Z0-9_-]", "target": "_"}},
    {"transform": {"template": "APP_{{ .value | upper }}"}},
]


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """The rows with an oracle in them need Go."""
    if shutil.which("go") is None:
        yield Figure("templates against Go's engine", "", "not measured: needs Go")
    else:
        with Oracle() as oracle:
            yield from _against_go(oracle, rounds=2 if smoke else 20)
    yield from _first_syncs(folder, objects=50 if smoke else OBJECTS, rounds=1 if smoke else 3)


def _data(group: str) -> Mapping[str, bytes]:
    if group != "keystores":
        return DATA
    held = material.data()
    names = {"certificate": "leaf", "key": "ed", "chain": "chain", "keystore": "p12", "jwk": "jwk_rsa_public"}
    return {name: held[source] for name, source in names.items()} | {"password": DATA["password"]}


def _against_go(oracle: Oracle, *, rounds: int) -> Iterator[Figure]:
    rendering: dict[str, list[float]] = {}
    parsing: list[float] = []
    for group, texts in GROUPS.items():
        data = _data(group)
        for text in texts:
            ratio = _ratio(oracle, "render", _rendering(text, data), rounds, text=text, data=data)
            rendering.setdefault(group, []).append(ratio)
            parsing.append(_ratio(oracle, "parse", _parsing(text), rounds, text=text))
    ratios = [ratio for group in rendering.values() for ratio in group]
    yield _figure("render of 50 typical templates", RENDER_GOAL, ratios)
    for group, found in rendering.items():
        yield Figure(
            f"- of that, {group}", "", f"{geometric_mean(found):.1f} x ({min(found):.1f} to {max(found):.1f})"
        )
    yield _figure("first parse of the same", PARSE_GOAL, parsing)
    held = {f"team/key.{number}": b"value" for number in range(KEYS)}
    ratio = _ratio(oracle, "rewrite", _rewriting(held), rounds, operations=OPERATIONS, values=held)
    yield _figure(f"rewrite of {KEYS:,} keys, 3 operations", REWRITE_GOAL, [ratio])


def _figure(what: str, goal: float, ratios: list[float]) -> Figure:
    """The mean is geometric, so that no template counts for more than another."""
    mean = geometric_mean(ratios)
    spread = f", the slowest {max(ratios):.1f} x" if len(ratios) > 1 else ""
    return Figure(what, f"<= {goal} x Go's time", f"{mean:.1f} x{spread}", mean <= goal)


def _ratio(oracle: Oracle, what: str, once: Callable[[], object], rounds: int, **question: object) -> float:
    """Our time to Go's, both sides taking turns: the median of the pairs."""
    once()
    ours_once = _timed(once, 1)
    count = max(1, int(TURN / ours_once))
    theirs_once = cast("float", oracle.ask("bench", what=what, rounds=WARM_UP, **question).result)
    theirs_count = max(1, int(TURN / theirs_once))
    pairs: list[float] = []
    for _ in range(rounds):
        theirs = oracle.ask("bench", what=what, rounds=theirs_count, **question)
        pairs.append(_timed(once, count) / cast("float", theirs.result))
    return median(pairs)


def _timed(once: Callable[[], object], rounds: int) -> float:
    begin = time.thread_time()
    for _ in range(rounds):
        once()
    return (time.thread_time() - begin) / rounds


def _rendering(text: str, data: Mapping[str, bytes]) -> Callable[[], object]:
    now = datetime.now(UTC)
    return lambda: operator.render("t", text, data, operator.Context(now, os.urandom), Work())


def _parsing(text: str) -> Callable[[], object]:
    return lambda: operator.FUNCTIONS.parse("t", text, "{{", "}}")


def _rewriting(held: Mapping[str, bytes]) -> Callable[[], object]:
    operations = msgspec.convert(OPERATIONS, list[Rewrite])
    templates = Templates(time.time)

    def once() -> object:
        work = Work()
        return assemble.rewrite(operations, held, work, transform=templates.of(work).transform)

    return once


def _first_syncs(folder: Path, *, objects: int, rounds: int) -> Iterator[Figure]:
    parent = SHARED_MEMORY if SHARED_MEMORY.is_dir() else folder
    seconds: dict[str, list[float]] = {"without": [], "with": []}
    with estate(objects, parent / "plain") as without, estate(objects, parent / "templated") as templated:
        for file in templated.manifests.glob("team-*.yaml"):
            file.write_text(file.read_text().replace("\n  data:\n", f"\n{TEMPLATE}  data:\n"))
        for _ in range(rounds):
            for name, host in (("without", without), ("with", templated)):
                host.clear()
                with worker("templates", folder=str(host.folder)) as process:
                    assert process.stdout is not None
                    seconds[name].append(json.loads(process.stdout.readline())["seconds"])
    plain, more = min(seconds["without"]), min(seconds["with"])
    yield Figure(
        f"first sync of {objects:,} ExternalSecrets with a template each",
        f"<= {SYNC_GOAL} x without",
        f"{more / plain:.2f} x ({more:.1f} s / {plain:.1f} s)",
        more / plain <= SYNC_GOAL,
    )


def _work(folder: str) -> None:
    """The process that is measured."""
    host = Estate(Path(folder))
    settings = Settings(
        manifests=(str(host.manifests),),
        output_dir=str(host.outputs),
        state_file=str(host.state),
        fsync=False,
    )
    result = asyncio.run(one_pass(settings, Registry()))
    print(json.dumps({"seconds": time.process_time()}), flush=True)
    assert not result.failures
    assert not result.invalid


if __name__ == "__main__":
    _work(**json.loads(sys.argv[1]))
