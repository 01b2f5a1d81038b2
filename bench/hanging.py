"""One store of ten hangs: what the others' objects feel of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench.cluster import Bench, bench, external_secret, store
from bench.figures import Figure, p99
from syncret.config.fields import Model
from syncret.config.meta import ObjectRef
from syncret.daemon.engine.observer import Run
from syncret.providers.contract import Client, OpenContext, Provider, RemoteKey

STORES: Final = 10
OBJECTS: Final = 40
ROUNDS: Final = 30
LATENCY: Final = 0.02
CHANGE: Final = 0.1


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
    """In real time; rounds with the tenth store well and hanging take turns."""
    del folder
    well, ill = asyncio.run(_rounds(2 if smoke else ROUNDS))
    change = p99(ill) / p99(well) - 1
    yield Figure(
        f"a store of {STORES} hangs: the others' p99 from due to done",
        f"within {CHANGE:.0%}",
        f"{change:+.1%} ({1000 * p99(well):.1f} ms / {1000 * p99(ill):.1f} ms)",
        change <= CHANGE,
    )


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
    def substitute(ref: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
        opened = provider.open
        assert opened is not None

        @asynccontextmanager
        async def slow(spec: Model, context: OpenContext) -> AsyncIterator[Client]:
            async with opened(spec, context) as client:
                yield Slow(client, hangs=hangs and ref.name == f"store-{STORES - 1}")

        return replace(provider, open=slow, batch_size=1)

    async with bench(substitute=substitute) as one:
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
