"""Whole manifests through admission, plan and extraction: the engine on virtual time, without a server."""

import asyncio
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_list, is_object, member
from syncret.config.settings import Settings
from syncret.config.text.yaml import parse_text
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import NullObserver, Run
from syncret.daemon.engine.reconciler import Failure
from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from syncret.daemon.homes.contract import HomeError
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.metadata import counted_uids
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.contract import Provider
from syncret.providers.fake.manager import Seed
from syncret.providers.fake.simulation import simulated
from syncret.providers.registry import Registry
from tests.faults.hostile.table import CASES
from tests.suites.fuzz import grammar
from tests.support.canary import leaks

SMALL: Final = 20_000
"""Characters of a hostile manifest that is a seed."""

SLOW: Final = ("ssh-keys", "template-keys", "template-dsa", "request-")
"""Manifests that make keys: in threads, for seconds."""

SECONDS: Final = 2.5
"""Of virtual time: what is due every second is run again."""

SAMPLES: Final = Path(__file__).parents[3] / "config" / "samples"
SERVER: Final = "http://127.0.0.1:9"
_REGISTRY: Final = Registry()


@cache
def samples() -> tuple[str, ...]:
    """The manifests of the documentation."""
    return tuple(file.read_text() for file in sorted(SAMPLES.rglob("*.yaml")))


@cache
def _scenes() -> tuple[tuple[Json, ...], ...]:
    fit = [case for case in CASES if case.end != "refused" and not case.name.startswith(SLOW)]
    texts = [text for case in fit if len(text := case.manifest(SERVER)) < SMALL]
    scenes = (tuple(parsed.value for parsed in parse_text(text.encode())) for text in (*samples(), *texts))
    return tuple(scene for scene in scenes if scene and all(map(is_object, scene)))


def make(chance: Random) -> list[Json]:
    """One manifest of the documentation, or a hostile one, damaged."""
    return grammar.damaged(chance, chance.choice(_scenes()))


def give(documents: list[Json]) -> None:
    """Sync them. Nothing but conditions comes of it, and none of them tells a value."""
    text = "\n".join(json.dumps(document) for document in documents)
    read = [parsed.value for parsed in parse_text(text.encode(), as_json=True) if not parsed.problems]
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        told = runner.run(_told(read))
    found = [leak for text in told for leak in leaks("told", text)]
    assert not found, found


class _Listener(NullObserver):
    """Keeps what is told of runs; a bug is raised at the end."""

    def __init__(self) -> None:
        self.bugs: list[str] = []
        self.told: list[str] = []

    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None:
        self.bugs.append(f"{ref}: {error} at {where}")

    def failed(self, ref: ObjectRef, failure: Failure) -> None:
        del ref
        self.told.append(f"{failure} {getattr(failure, 'hint', '')}")

    def ran(self, run: Run) -> None:
        if run.failure is not None:
            self.failed(run.ref, run.failure)


async def _told(documents: list[Json]) -> list[str]:
    clock, listener = Clock(1_750_000_000.0), _Listener()
    cluster = MemoryCluster(now=clock.now, new_uid=counted_uids(), admission=admission_by(_REGISTRY))
    seeds = [
        Seed(key, grammar.VALUES[n % len(grammar.VALUES)])
        for n, key in enumerate(sorted({*_keys(documents)}))
    ]

    def substitute(_store: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
        return simulated(provider, seeds)

    hooks = EngineOverrides(observer=listener, substitute=substitute)
    settings = Settings(spread=False, batch_window=0.0, requests_per_second=1e6, burst=1_000_000)
    async with run_engine(
        cluster, registry=_REGISTRY, settings=settings, clock=clock, hooks=hooks
    ) as running:
        for document in documents:
            await _apply(cluster, document, listener)
        await running.engine.wait_idle()
        await asyncio.sleep(SECONDS)
        await running.engine.wait_idle()
        conditions = [
            str(member(stored.document, "status"))
            for kind in sorted(cluster.kinds())
            for stored in await cluster.list(kind)
        ]
    assert not listener.bugs, listener.bugs
    return [*listener.told, *conditions]


async def _apply(cluster: MemoryCluster, document: Json, listener: _Listener) -> None:
    if not is_object(document):
        return
    try:
        await cluster.apply(_placed(document))
    except HomeError as error:
        listener.told.append(str(error))


def _placed(document: Document) -> Document:
    """As a reader of manifests leaves it: with a name, so that a cluster can keep it."""
    metadata = document.get("metadata")
    if is_object(metadata) and isinstance(metadata.get("name"), str):
        return document
    return document | {"metadata": {"name": "nameless"}}


def _keys(value: Json) -> Iterator[str]:
    """The remote keys that are asked for."""
    if is_object(value):
        for name, each in value.items():
            if name == "key" and isinstance(each, str):
                yield each
            yield from _keys(each)
    elif is_list(value):
        for each in value:
            yield from _keys(each)
