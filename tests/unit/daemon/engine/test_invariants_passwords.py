"""I3, I4: what is generated once is generated once, however the home lags and whatever goes wrong."""

import asyncio
from collections import defaultdict
from contextlib import aclosing
from itertools import count

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from syncret.daemon.homes.contract import Conflict, StoredObject
from syncret.daemon.homes.memory.lagging import Lag
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.values import SecretBytes
from tests.unit.daemon.engine.life import HOUR, SECRET, Life, manifest, store, wanting
from tests.unit.daemon.engine.support import START

OBJECTS = 200
FAULTS = Lag(
    skipped=0.2,
    broken=0.02,
    relisted=0.5,
    unknown=0.1,
    conflicts=0.05,
    throttled=0.05,
    unavailable=0.02,
    lost_answers=0.05,
)


class NoSpec(Model):
    """The generator of the test takes none."""


class Drawing:
    """Makes another password each time, and counts."""

    def __init__(self) -> None:
        self.numbers = count(1)

    async def generate(self, spec: NoSpec, context: OpenContext) -> Generated:
        return Generated({"password": SecretBytes(f"password-{next(self.numbers)}".encode())}, None)

    def generator(self) -> Generator[NoSpec]:
        return Generator(SpecType("Grafana", NoSpec), self.generate, None)


ONCE: Document = {"refreshPolicy": "CreatedOnce"}
DAILY: Document = {"refreshInterval": "24h"}
"""That it was made today is known by its status alone: it is not adopted by what stands in the Secret."""

CASES = [
    pytest.param(Lag(), ONCE, id="once, late events"),
    pytest.param(Lag(), DAILY, id="daily, late events"),
    pytest.param(FAULTS, ONCE, id="once, faults"),
    pytest.param(FAULTS, DAILY, id="daily, faults"),
]


def passwords(policy: Document, objects: int) -> list[Document]:
    generator: Document = {
        "apiVersion": "generators.external-secrets.io/v1alpha1",
        "kind": "Grafana",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {},
    }
    source = {"sourceRef": {"generatorRef": {"kind": "Grafana", "name": "g"}}}
    spec = {"dataFrom": [source], **policy}
    return [generator, *(manifest("ExternalSecret", f"x{number}", spec) for number in range(objects))]


async def redrawn(seed: int, lag: Lag, policy: Document, objects: int = OBJECTS) -> int:
    """How many passwords were replaced that had stood in a Secret once."""
    life = Life(Clock(START), generators=[Drawing().generator()], lag=lag, seed=seed)
    stood: defaultdict[str, set[str]] = defaultdict(set)

    async def watch() -> None:
        async with aclosing(life.cluster.watch()) as events:
            async for event in events:
                if event.object is not None and event.object.ref.kind == SECRET:
                    stood[event.object.ref.name].add(event.object.document["data"]["password"])

    watching = asyncio.create_task(watch())
    async with life.running():
        for each in passwords(policy, objects):
            await life.cluster.apply(each)
        await life.wait(2 * HOUR)
        assert not life.bugs
    watching.cancel()
    assert len(stood) == objects
    return sum(len(values) - 1 for values in stood.values())


@pytest.mark.parametrize(("lag", "policy"), CASES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_i3_no_password_that_is_generated_once_is_replaced(seed: int, lag: Lag, policy: Document) -> None:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        assert runner.run(redrawn(seed, lag, policy)) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("lag", "policy"), CASES)
def test_i3_none_of_a_thousand_whose_watch_is_up_to_five_seconds_late(lag: Lag, policy: Document) -> None:
    assert lag.events == 5.0
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        assert runner.run(redrawn(7, lag, policy, 1000)) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("lag", "policy"), CASES)
def test_i3_none_of_fifty_seeds(lag: Lag, policy: Document) -> None:
    found: dict[int, int] = {}
    for seed in range(50):
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            found[seed] = runner.run(redrawn(seed, lag, policy))
    assert {seed: number for seed, number in found.items() if number} == {}


async def test_i4_a_status_that_meets_a_conflict_costs_no_call(clock: Clock) -> None:
    life = Life(clock)
    update_status, met = life.target.update_status, set[str]()

    async def conflict_once(seen: StoredObject, status: Document) -> StoredObject | None:
        if seen.ref.kind == "ExternalSecret" and seen.ref.name not in met:
            met.add(seen.ref.name)
            raise Conflict("the object has been modified")
        return await update_status(seen, status)

    life.target.update_status = conflict_once  # type: ignore[method-assign,assignment]
    async with life.running():
        life.manager.values |= {f"k{number}": "v" for number in range(50)}
        await life.apply(store(), *(wanting(f"x{number}", key=f"k{number}") for number in range(50)))
        assert len(met) == 50
        assert life.reads == 50
        await life.wait(60)
        assert life.reads == 50
