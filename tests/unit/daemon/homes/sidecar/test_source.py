"""The objects of a host home come from another home, which may be late, break off, or be away."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import CONFIG_MAP, EXTERNAL_SECRET, SECRET, SECRET_STORE
from syncret.daemon.homes.contract import (
    Conflict,
    Home,
    HomeProblem,
    HomeUnusable,
    StorageUnavailable,
    StoredObject,
    WatchEvent,
    WatchEventType,
)
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag, LaggingHome
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.daemon.homes.sidecar import source
from syncret.daemon.homes.sidecar.source import Upstream
from syncret.providers.registry import Registry
from tests.suites.homes.objects import START

REGISTRY = Registry()
ES = EXTERNAL_SECRET.ref("shop", "e")
STORE = SECRET_STORE.ref("shop", "s")
LOGIN = SECRET.ref("shop", "login")
EVERY = 10.0


def external_secret(name: str = "e", **spec: object) -> Document:
    given = {"secretStoreRef": {"name": "s"}, "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}], **spec}
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": given,
    }


def secret_store(value: str = "one") -> Document:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "s", "namespace": "shop"},
        "spec": {"provider": {"fake": {"data": [{"key": "k", "value": value}]}}},
    }


def core(ref: ObjectRef, **data: str) -> Document:
    metadata = {"name": ref.name, "namespace": ref.namespace}
    return {"apiVersion": "v1", "kind": ref.kind, "metadata": metadata, "data": data}


@pytest.fixture
async def cluster() -> MemoryCluster:
    """What the API server holds: a store, and an ExternalSecret."""
    made = MemoryCluster(now=lambda: START, admission=admission_by(REGISTRY))
    await made.create(secret_store())
    await made.create(external_secret())
    return made


class Problems:
    def __init__(self) -> None:
        self.last: Sequence[HomeProblem] = ()

    def __call__(self, problems: Sequence[HomeProblem]) -> None:
        self.last = problems


@asynccontextmanager
async def opened(
    upstream: Home, *, reports: bool = False, folder: Path | None = None, problems: Problems | None = None
) -> AsyncGenerator[HostHome]:
    """A sidecar on that home, followed; in memory, if there is no folder."""
    settings = HostSettings(
        manifests=(),
        output_dir=None if folder is None else str(folder / "out"),
        state_file=None if folder is None else str(folder / "state.db"),
        output=OutputSettings(fsync=False),
    )
    home = HostHome(
        settings,
        catalog=REGISTRY,
        admission=admission_by(REGISTRY),
        now=lambda: START,
        on_problems=problems or Problems(),
    )
    home.open_source = Upstream(upstream, REGISTRY, every=EVERY, reports=reports).source
    async with home, asyncio.TaskGroup() as group:
        following = group.create_task(home.run())
        yield home
        following.cancel()


def wanted(objects: Sequence[StoredObject]) -> Mapping[ObjectRef, Any]:
    return {stored.ref: stored.document["spec"] for stored in objects}


async def all_of(home: Home) -> Mapping[ObjectRef, Any]:
    kinds = (EXTERNAL_SECRET.group_kind, SECRET_STORE.group_kind)
    return {ref: spec for kind in kinds for ref, spec in wanted(await home.list(kind)).items()}


@pytest.mark.parametrize("seed", range(20))
async def test_what_is_late_breaks_off_or_cannot_be_seen_comes_out_right(
    seed: int, cluster: MemoryCluster
) -> None:
    lag = Lag(events=2.0, outages=5.0, skipped=0.2, broken=0.3, relisted=0.5, unknown=0.0)
    chance = Random(seed)  # noqa: S311  # a test
    upstream = LaggingHome(cluster, lag=lag, chance=chance)
    async with opened(upstream) as home:
        upstream.lag = Lag(events=2.0, outages=5.0, skipped=0.2, broken=0.3, relisted=0.5, unknown=0.5)
        for number in range(40):
            name = f"e{chance.randrange(4)}"
            ref = EXTERNAL_SECRET.ref("shop", name)
            if chance.random() < 0.3 and await cluster.get(ref) is not None:
                await cluster.remove(ref)
            else:
                await cluster.apply(external_secret(name, refreshInterval=f"{number}m0s"))
            await asyncio.sleep(chance.random())
            assert ES in await all_of(home)
        await asyncio.sleep(60)
        assert await all_of(home) == await all_of(cluster)


async def test_an_object_that_is_made_anew_is_another_one(cluster: MemoryCluster) -> None:
    async with opened(cluster) as home:
        before = await home.get(ES)
        await cluster.remove(ES)
        await cluster.create(external_secret())
        await asyncio.sleep(1)
        after = await home.get(ES)
        assert before is not None
        assert after is not None
        assert before.uid != after.uid


async def test_an_object_that_others_still_hold_while_it_is_deleted_is_gone(cluster: MemoryCluster) -> None:
    document = external_secret("held")
    document["metadata"]["finalizers"] = ["example.com/of-another"]
    await cluster.create(document)
    held = EXTERNAL_SECRET.ref("shop", "held")
    async with opened(cluster) as home:
        assert await home.get(held) is not None
        await cluster.remove(held)
        await asyncio.sleep(1)
        assert await home.get(held) is None
        assert await cluster.get(held) is not None


async def test_of_an_object_that_becomes_wrong_the_last_good_version_stays(cluster: MemoryCluster) -> None:
    problems = Problems()
    async with opened(cluster, problems=problems) as home:
        generator = {"generatorRef": {"kind": "Password", "name": "p"}}
        await cluster.apply(external_secret(dataFrom=[{"sourceRef": generator}]))
        await asyncio.sleep(1)
        stored = await home.get(ES)
        assert stored is not None
        assert "dataFrom" not in stored.document["spec"]
        (problem,) = problems.last
        assert problem.ref == ES
        assert problem.problem.path == "spec.dataFrom[0].sourceRef.generatorRef"
        await cluster.apply(external_secret(refreshInterval="5m0s"))
        await asyncio.sleep(1)
        assert problems.last == ()


async def test_secrets_are_read_by_name_but_never_the_one_that_is_made_here(cluster: MemoryCluster) -> None:
    target = SECRET.ref("shop", "made")
    words = CONFIG_MAP.ref("shop", "words")
    await cluster.apply(external_secret(target={"name": "made"}))
    generic = {"name": "settings", "manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
    await cluster.create(external_secret("generic", target=generic))
    await cluster.create(core(CONFIG_MAP.ref("shop", "settings"), a="one"))
    for ref in (LOGIN, target):
        await cluster.create(core(ref, a="b25l"))
    await cluster.create(core(words, a="one"))
    async with opened(cluster) as home:
        for ref in (LOGIN, words):
            found = await home.get(ref)
            assert found is not None
            assert found.document["data"]
        assert await home.get(target) is None
        assert await home.get(CONFIG_MAP.ref("shop", "settings")) is None
        assert await home.get(EXTERNAL_SECRET.ref("shop", "other")) is None


async def test_what_was_read_and_changes_is_told(cluster: MemoryCluster) -> None:
    heard: list[WatchEvent] = []

    async def hear(home: HostHome) -> None:
        async for event in home.watch():
            heard.append(event)  # noqa: PERF401  # the watch never ends

    async with opened(cluster) as home, asyncio.TaskGroup() as group:
        hearing = group.create_task(hear(home))
        assert await home.get(LOGIN) is None
        await cluster.create(core(LOGIN, a="b25l"))
        await asyncio.sleep(EVERY + 1)
        await cluster.apply(core(LOGIN, a="dHdv"))
        await asyncio.sleep(EVERY)
        await asyncio.sleep(EVERY)
        await cluster.remove(LOGIN)
        await asyncio.sleep(EVERY)
        hearing.cancel()
    told = [(each.type, each.object.data) for each in heard if each.object and each.object.ref == LOGIN]
    assert [type_ for type_, _ in told] == [
        WatchEventType.ADDED,
        WatchEventType.MODIFIED,
        WatchEventType.DELETED,
    ]
    assert not any(b"b25l" in data or b"dHdv" in data for _, data in told)


class Reluctant(MemoryCluster):
    """Refuses the first status writes, with what it is given."""

    def __init__(self) -> None:
        super().__init__(now=lambda: START, admission=admission_by(REGISTRY))
        self.refusals: list[Exception] = []
        self.asked = 0

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        self.asked += 1
        if self.refusals:
            raise self.refusals.pop(0)
        return await super().update_status(seen, status)


@pytest.mark.parametrize(
    "refusals",
    [[], [Conflict("newer")], [StorageUnavailable("away")] * 3],
    ids=["at-once", "after-a-conflict", "after-an-outage"],
)
async def test_the_newest_status_is_reported_with_the_generation_there(refusals: list[Exception]) -> None:
    cluster = Reluctant()
    await cluster.create(secret_store())
    await cluster.create(external_secret())
    await cluster.apply(external_secret(refreshInterval="1m0s"))
    cluster.refusals = list(refusals)
    async with opened(cluster, reports=True) as home:
        for number in range(3):
            seen = await home.get(ES)
            assert seen is not None
            await home.update_status(seen, {"refreshTime": str(number), "syncedResourceVersion": "1-abc"})
        await asyncio.sleep(60)
        reported = await cluster.get(ES)
        assert reported is not None
        assert member(reported.document, "status") == {"refreshTime": "2", "syncedResourceVersion": "2-abc"}
        assert cluster.asked == len(refusals) + 1


async def test_without_that_setting_no_status_is(cluster: MemoryCluster) -> None:
    async with opened(cluster) as home:
        seen = await home.get(ES)
        assert seen is not None
        await home.update_status(seen, {"refreshTime": "now"})
        await asyncio.sleep(60)
        stored = await cluster.get(ES)
        assert stored is not None
        assert "status" not in stored.document


def away() -> Home:
    """An API server that does not answer."""
    never = Lag(events=1e9)
    return LaggingHome(MemoryCluster(now=lambda: START), lag=never, chance=Random(1))  # noqa: S311  # a test


async def test_a_first_start_without_the_objects_fails() -> None:
    with pytest.raises(HomeUnusable, match="ExternalSecrets and SecretStores cannot be read") as failed:
        async with opened(away()):
            pass
    assert "get, list and watch" in failed.value.hint


@pytest.mark.time("real")
async def test_a_restart_without_the_objects_goes_on_with_what_was_known(
    cluster: MemoryCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(cluster, folder=tmp_path) as home:
        before = await home.get(ES)
        made = await home.create(core(SECRET.ref("shop", "e"), a="b25l"))
    monkeypatch.setattr(source, "RESTART", 0.01)
    async with opened(away(), folder=tmp_path) as home:
        assert await home.get(ES) == before
        assert await home.get(made.ref) is not None
        assert (tmp_path / "out" / "shop" / "e" / "a").read_text() == "one"
    monkeypatch.undo()
    await cluster.create(external_secret("other"))
    await cluster.remove(ES)
    async with opened(cluster, folder=tmp_path) as home:
        assert await home.get(ES) is None
