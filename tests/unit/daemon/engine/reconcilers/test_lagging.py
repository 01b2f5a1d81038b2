"""PushSecrets and cluster-wide kinds on a home that lags: nothing is lost, nothing is made twice."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from random import Random

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.memory.lagging import Lag
from tests.unit.daemon.engine.life import HOUR, PUSH, Life, manifest, namespace, store, wanting
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, SYNCED, entry, pushing
from tests.unit.daemon.engine.support import ref

LATE = Lag()
"""Everything comes late, nothing fails."""

BAD = Lag(
    skipped=0.2,
    broken=0.05,
    relisted=0.3,
    unknown=0.1,
    conflicts=0.1,
    throttled=0.05,
    unavailable=0.05,
    lost_answers=0.1,
)
SEEDS = range(20)
pytestmark = pytest.mark.tells_at_once(reason="each home lags as its test says")


@asynccontextmanager
async def on_a_home_that_lags(clock: Clock, seed: int, lag: Lag) -> AsyncGenerator[Life, None]:
    async with Life(clock, lag=lag, seed=seed).running() as life:
        yield life
        assert not life.bugs


def accounted(statuses: list[Document]) -> set[str]:
    """The keys that the statuses say to stand at store `s`."""
    return {key for each in statuses for key in each.get("syncedPushSecrets", {}).get("SecretStore/s", {})}


@pytest.mark.parametrize("seed", SEEDS)
async def test_edits_and_deletions_during_pushes_leave_nothing_unaccounted(clock: Clock, seed: int) -> None:
    chance = Random(seed)  # noqa: S311  # a test
    async with on_a_home_that_lags(clock, seed, BAD) as life:
        life.manager.values.clear()
        life.manager.delay = 2
        await life.apply(SOURCE, store())
        names = ("p", "q", "r")
        wanted: dict[str, set[str]] = {}
        for _ in range(30):
            name, keys = chance.choice(names), chance.sample("abcdef", 2)
            found = await life.cluster.get(ref(name, kind="PushSecret"))
            is_leaving = found is not None and "deletionTimestamp" in found.document["metadata"]
            if found is not None and chance.random() < 0.2:
                await life.cluster.remove(found.ref)
                wanted.pop(name, None)
            elif not is_leaving:
                document = pushing(*(entry(f"{name}-{key}") for key in keys), deletionPolicy="Delete")
                document["metadata"]["name"] = name
                await life.cluster.apply(document)
                wanted[name] = {f"{name}-{key}" for key in keys}
            await asyncio.sleep(10 * chance.random())
        await life.wait(HOUR)
        statuses = [await life.status(ref(name, kind="PushSecret")) for name in wanted]
        assert {each["conditions"][0]["reason"] for each in statuses} <= {"Synced"}
        assert life.manager.values.keys() == accounted(statuses) == set().union(*wanted.values())
        for name in wanted:
            await life.cluster.remove(ref(name, kind="PushSecret"))
        await life.wait(HOUR)
        assert not life.manager.values


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_push_secret_sees_the_secret_that_was_just_written(clock: Clock, seed: int) -> None:
    async with on_a_home_that_lags(clock, seed, LATE) as life:
        await life.apply(store(), pushing(entry("r")), wanting("e", target={"name": "q"}))
        await life.wait(60)
        assert await life.ready(PUSH) == SYNCED
        assert life.manager.values["r"] == "v"
        assert life.calls("push") == 1


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_child_is_created_once(clock: Clock, seed: int) -> None:
    async with on_a_home_that_lags(clock, seed, BAD) as life:
        created: list[ObjectRef] = []
        create = life.cluster.create

        async def counted(document: Document, *, field_manager: str = "") -> object:
            stored = await create(document, field_manager=field_manager)
            created.append(stored.ref)
            return stored

        life.cluster.create = counted  # type: ignore[method-assign,assignment]
        names = [f"n{number}" for number in range(5)]
        for name in names:
            await life.cluster.apply(namespace(name, team="blue"))
        spec = {
            "externalSecretSpec": wanting()["spec"],
            "namespaceSelectors": [{"matchLabels": {"team": "blue"}}],
        }
        await life.cluster.apply(manifest("ClusterExternalSecret", "c", spec, namespace=""))
        await life.wait(HOUR)
        children = [each for each in created if each.kind == "ExternalSecret"]
        assert sorted(each.namespace for each in children) == names
        status = await life.status(ref("c", kind="ClusterExternalSecret", namespace=""))
        assert status["provisionedNamespaces"] == names
