"""An hour of edits and faults on a home that lags comes to what it comes to on one that does not."""

import asyncio
from random import Random

import pytest

from syncret.config.meta import Document, GroupKind
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from syncret.daemon.homes.memory.lagging import Lag
from tests.unit.daemon.engine.life import HOUR, Life, manifest, namespace, store, values, wanting
from tests.unit.daemon.engine.support import GROUP, START
from tests.unit.daemon.engine.test_invariants_passwords import FAULTS

SYNCED, STORES, PUSHES = 180, 20, 60
EDITS = 200
KINDS = ("ExternalSecret", "PushSecret", "SecretStore", "ClusterExternalSecret")


def external(number: int, key: int) -> Document:
    spec = {"secretStoreRef": {"name": f"s{number % STORES}"}, "refreshInterval": "10m"}
    policy = "Delete" if number % 3 == 0 else "Retain"
    return wanting(f"x{number}", key=f"k{key}", target={"deletionPolicy": policy}, **spec)


def pushing(number: int, key: int) -> Document:
    spec = {
        "secretStoreRefs": [{"name": f"s{number % STORES}"}],
        "selector": {"secret": {"name": f"x{number}"}},
        "deletionPolicy": "Delete" if number % 2 else "None",
        "refreshInterval": "10m",
        "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": f"pushed-{number}-{key}"}}}],
    }
    return manifest("PushSecret", f"p{number}", spec)


def fan_out(name: str, team: str) -> Document:
    spec = {
        "namespaceSelectors": [{"matchLabels": {"team": team}}],
        "externalSecretSpec": wanting()["spec"]
        | {"secretStoreRef": {"name": "c", "kind": "ClusterSecretStore"}},
    }
    return manifest("ClusterExternalSecret", name, spec, namespace="")


async def an_hour(seed: int, lag: Lag | None) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """The values of every Secret and the Ready condition of every object, an hour and more after."""
    chance = Random(seed)  # noqa: S311  # a test
    life = Life(Clock(START), lag=lag, seed=seed)
    life.manager.values = {f"k{number}": f"v{number}" for number in range(50)} | {"k": "v"}
    before = asyncio.all_tasks()
    async with life.running(retry_max=60.0):
        await life.cluster.apply(store("c", namespace=""))
        for number in range(STORES):
            await life.cluster.apply(store(f"s{number}", refreshInterval=600))
        for number in range(20):
            await life.cluster.apply(namespace(f"n{number}", team="ab"[number % 2]))
        for name, team in (("ca", "a"), ("cb", "b")):
            await life.cluster.apply(fan_out(name, team))
        for number in range(SYNCED):
            await life.cluster.apply(external(number, number % 50))
        for number in range(PUSHES):
            await life.cluster.apply(pushing(number, 0))
        for _ in range(EDITS):
            await asyncio.sleep(chance.random() * 2 * HOUR / EDITS)
            number, key = chance.randrange(SYNCED), chance.randrange(50)
            one = (external(number, key), pushing(number % PUSHES, key % 3))[chance.random() < 0.3]
            ref = life.cluster.prepare_apply(one).ref
            if chance.random() < 0.3 and await life.cluster.get(ref) is not None:
                await life.cluster.remove(ref)
                while await life.cluster.get(ref) is not None:  # noqa: ASYNC110  # it is made anew later
                    await asyncio.sleep(5)
            else:
                await life.cluster.apply(one)
        if lag is not None:  # the faults end, so that the end does not depend on the last of them
            life.home.lag = Lag()  # type: ignore[attr-defined]
        await life.wait(2 * HOUR)
        assert not life.bugs
        assert not life.controllers.engine._owed  # pyright: ignore[reportPrivateUsage]
        secrets = {
            str(stored.ref): values(stored.document)
            for stored in await life.cluster.list(GroupKind("", "Secret"))
        }
        ready = {
            str(stored.ref): (await life.ready(stored.ref))[0]
            for kind in KINDS
            for stored in await life.cluster.list(GroupKind(GROUP, kind))
        }
    assert asyncio.all_tasks() == before
    return secrets, ready


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_an_hour_of_edits_and_faults_comes_to_the_same(seed: int) -> None:
    ends: list[tuple[dict[str, dict[str, str]], dict[str, str]]] = []
    for lag in (None, FAULTS):
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            ends.append(runner.run(an_hour(seed, lag)))
    assert ends[0] == ends[1]
    assert len(ends[0][0]) > SYNCED / 2
