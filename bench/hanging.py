"""Some stores hang: how much that delays the objects of the others."""

import asyncio
import gc
from collections.abc import AsyncIterator, Container, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from bench.cluster import Bench, bench, external_secret, store
from bench.figures import Figure, p99
from syncret.config.fields import Model
from syncret.config.meta import ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.observer import Run
from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from syncret.providers.contract import Client, OpenContext, Provider
from syncret.providers.values import RemoteKey

STORES: Final = 10
OBJECTS: Final = 40
ROUNDS: Final = 30
LATENCY: Final = 0.02
CHANGE: Final = 0.1

HUNG: Final = (1, 8, 20)
OBJECTS_HUNG: Final = 200
"""Of each store that hangs; more than may be in progress at once."""

OBJECTS_WELL: Final = 20
EVERY: Final = 2.0
SECONDS: Final = 600.0
OLDEST: Final = 5.0


class Slow:
    """A client that takes its time to read; or all the time that there is."""

    def __init__(self, client: Client, *, hangs: bool) -> None:
        self._client = client
        self._hangs = hangs

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever the client has
        return getattr(self._client, name)

    async def fetch(self, keys: Sequence[RemoteKey]) -> Any:  # noqa: ANN401  # the client's own payloads
        if self._hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(LATENCY)
        return await getattr(self._client, "fetch")(keys)  # noqa: B009  # a Client need not be a Reader


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """One of ten in real time, where rounds with it well and hanging take turns; many on virtual time."""
    del folder
    for hung in HUNG[:1] if smoke else HUNG:
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            oldest = runner.run(_oldest(hung, 60.0 if smoke else SECONDS))
        yield Figure(
            f"{hung} stores hang, values of another every {EVERY:g} s: its oldest value",
            f"<= {OLDEST:g} s",
            f"{oldest:.1f} s",
            oldest <= OLDEST,
        )
    gc.collect()  # what the engines above leave takes seconds to collect, and no round should
    well, ill = asyncio.run(_rounds(2 if smoke else ROUNDS))
    change = p99(ill) / p99(well) - 1
    yield Figure(
        f"a store of {STORES} hangs: the others' p99 from due to done",
        f"within {CHANGE:.0%}",
        f"{change:+.1%} ({1000 * p99(well):.1f} ms / {1000 * p99(ill):.1f} ms)",
        change <= CHANGE,
    )


async def _oldest(hung: int, seconds: float) -> float:
    """How old a value of the store that answers became, from the moment that the others hang."""
    hanging = {f"hung-{number}" for number in range(hung)}
    async with bench(substitute=partial(_slow, hanging), settings=Settings()) as one:
        keys = [f"key-{number}" for number in range(OBJECTS_HUNG)]
        for name in ("well", *hanging):
            await one.cluster.apply(store(name, *keys))
        for key in keys[:OBJECTS_WELL]:
            await one.cluster.apply(external_secret(f"well-{key}", "well", key, every=f"{EVERY:g}s"))
        await asyncio.sleep(2 * EVERY)
        begin = asyncio.get_running_loop().time()
        one.witness.forget()
        for name in hanging:
            for key in keys:
                await one.cluster.apply(external_secret(f"{name}-{key}", name, key))
        await asyncio.sleep(seconds)
        end = asyncio.get_running_loop().time()
        written: dict[str, list[float]] = {f"well-{key}": [begin] for key in keys[:OBJECTS_WELL]}
        for time, run in one.witness.ended:
            if run.ref.name in written and run.failure is None:
                written[run.ref.name].append(time)
    return max(after - before for times in written.values() for before, after in pairwise([*times, end]))


def _slow(hanging: Container[str], ref: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
    """The provider of one store, with clients that take their time to read."""
    opened = provider.open
    assert opened is not None

    @asynccontextmanager
    async def slow(spec: Model, context: OpenContext) -> AsyncIterator[Client]:
        async with opened(spec, context) as client:
            yield Slow(client, hangs=ref.name in hanging)

    return replace(provider, open=slow, batch_size=1)


async def _rounds(rounds: int) -> tuple[list[float], list[float]]:
    """Two engines in one loop, of which the second has a store that never answers."""
    async with _engine(hangs=False) as well, _engine(hangs=True) as ill:
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            times[0].extend(await _round(well))
            times[1].extend(await _round(ill))
    return times


@asynccontextmanager
async def _engine(*, hangs: bool) -> AsyncIterator[Bench]:
    hanging = {f"store-{STORES - 1}"} if hangs else set[str]()
    async with bench(substitute=partial(_slow, hanging)) as one:
        for number in range(STORES):
            await one.cluster.apply(store(f"store-{number}", *(f"key-{n}" for n in range(OBJECTS))))
            for place in range(OBJECTS):
                name = f"app-{number}-{place}"
                await one.cluster.apply(external_secret(name, f"store-{number}", f"key-{place}"))
        while len({run.ref for run in one.witness.runs if _counts(run)}) < OBJECTS * (STORES - 1):  # noqa: ASYNC110  # a look now and then disturbs least
            await asyncio.sleep(0.05)
        yield one


async def _round(one: Bench) -> list[float]:
    """Everything is due at once; how long each object of the nine took, its wait included."""
    one.witness.forget()
    for number in range(STORES):
        for place in range(OBJECTS):
            ref = ObjectRef("external-secrets.io", "ExternalSecret", "team", f"app-{number}-{place}")
            one.running.context.memory.request_refresh(ref)
            one.running.engine.refresh(ref)
    nine = OBJECTS * (STORES - 1)
    while sum(map(_counts, one.witness.runs)) < nine:  # noqa: ASYNC110  # as above
        await asyncio.sleep(0.005)
    return [run.waited + run.seconds for run in one.witness.runs if _counts(run)]


def _counts(run: Run) -> bool:
    return run.ref.kind == "ExternalSecret" and not run.lane.endswith(f"store-{STORES - 1}")
