"""A daemon that only observes writes nothing anywhere, and says what it would write."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.ownership import DATA_HASH
from syncret.daemon.core.plan.external_secret.next_step import FINALIZER
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.held_writes import HeldRecord
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.ops.control import explanation
from tests.unit.daemon.engine.life import (
    HOUR,
    Life,
    manifest,
    namespace,
    secret,
    secret_ref,
    store,
    values,
    wanting,
)
from tests.unit.daemon.engine.support import ref

PUSH: Document = {
    "secretStoreRefs": [{"name": "s"}],
    "selector": {"secret": {"name": "source"}},
    "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": "pushed"}}}],
}


def observing(is_on: Callable[[], bool] = lambda: True, *, asks_stores: bool = True) -> HeldRecord:
    return HeldRecord(is_on, asks_stores=asks_stores)


def told(record: HeldRecord) -> dict[str, Sequence[str]]:
    return {of.name: [str(each) for each in held] for of, held in record.all().items()}


async def version(cluster: MemoryCluster) -> int:
    """The version of the whole cluster: it grows with every write."""
    await cluster.announced()
    return int(cluster.version)


async def test_of_an_estate_that_is_in_sync_nothing_would_be_written(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store(), secret("source", {"a": "1"}), wanting(), wanting("y", key="k"))
        await life.apply(manifest("PushSecret", "p", {**PUSH, "refreshInterval": "1h"}))
    before, reads = await version(life.cluster), life.reads
    record = observing()
    async with life.observing(record):
        assert told(record) == {}
    assert await version(life.cluster) == before
    assert life.reads == reads


async def test_what_would_be_written_is_told_and_not_written(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store(), wanting(), wanting("gone", target={"deletionPolicy": "Delete"}))
    life.manager.values["k"] = "new"
    await life.cluster.apply(wanting("new"))
    await life.cluster.apply(wanting(metadata={"labels": {"team": "a"}}))
    before = await version(life.cluster)
    record = observing()
    async with life.observing(record):
        assert told(record) == {
            "new": [
                f"finalizers ExternalSecret/default/new: adds {FINALIZER}",
                "create Secret/default/new: adds a",
                "status ExternalSecret/default/new: Ready: True SecretSynced; binding; syncedResourceVersion",
            ],
            "x": [
                f"update Secret/default/x: changes a; labels team; annotations {DATA_HASH}",
                "status ExternalSecret/default/x: syncedResourceVersion",
            ],
        }
        notes = explanation(life.view(), "ExternalSecret", "default", "new").notes
        assert "observed only, would be written: create Secret/default/new: adds a" in notes
    assert await version(life.cluster) == before
    assert life.events[-1][0] != "new", "events tell what happened"


async def test_what_another_operator_then_writes_is_no_longer_told(clock: Clock) -> None:
    life, record = Life(clock), observing()
    async with life.running():
        await life.apply(store(), wanting())
    life.manager.values["k"] = "new"
    async with life.observing(record):
        await life.wait(HOUR)
        assert "changes a" in told(record)["x"][0]
        current = await life.cluster.get(secret_ref("x"))
        assert current is not None
        assert values(current.document) == {"a": "v"}
    async with life.running():
        await life.wait(HOUR)
        assert await life.data("x") == {"a": "new"}


async def test_nothing_is_pushed_drawn_or_cleaned_up(clock: Clock) -> None:
    life = Life(clock)
    record = observing()
    password = manifest("Password", "pw", {"length": 12, "digits": 2, "symbols": 0})
    password["apiVersion"] = "generators.external-secrets.io/v1alpha1"
    drawn = {"generatorRef": {"apiVersion": password["apiVersion"], "kind": "Password", "name": "pw"}}
    async with life.running():
        await life.apply(store())
    async with life.observing(record):
        await life.apply(secret("source", {"a": "1"}), password)
        await life.apply(manifest("PushSecret", "p", PUSH))
        await life.apply(manifest("ExternalSecret", "d", {"dataFrom": [{"sourceRef": drawn}]}))
        assert told(record)["p"] == ["provider PushSecret/default/p"]
        assert "provider ExternalSecret/default/d" in told(record)["d"]
        assert "pushed" not in life.manager.values
        assert await life.data("d") is None


async def test_an_unmarked_target_is_told_once(clock: Clock) -> None:
    life = Life(clock)
    record = observing()
    async with life.running():
        await life.apply(store(), secret("x", {"other": "1"}))
    async with life.observing(record):
        await life.apply(wanting())
        held = told(record)["x"]
        assert sum(each.startswith("update Secret/default/x: labels") for each in held) == 1


async def test_children_of_a_cluster_wide_object_are_told(clock: Clock) -> None:
    life = Life(clock)
    record = observing()
    spec = {
        "namespaces": ["other"],
        "externalSecretSpec": {
            "secretStoreRef": {"name": "s"},
            "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
        },
    }
    async with life.running():
        await life.apply(namespace("other"), store())
    before = await version(life.cluster)
    await life.cluster.apply(manifest("ClusterExternalSecret", "all", spec, namespace=""))
    async with life.observing(record):
        held = told(record)["all"]
        assert any(each.startswith("create ExternalSecret/other/all") for each in held)
    assert await version(life.cluster) == before + 1


async def test_without_asking_stores_only_that_they_would_be_is_told(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store(), wanting())
    await life.cluster.apply(wanting("new"))
    record = observing(asks_stores=False)
    reads = life.reads
    async with life.observing(record):
        assert told(record)["new"][-1] == "read ExternalSecret/default/new"
        assert "x" not in told(record)
        assert life.reads == reads


class Changing:
    """Lets a test say that what the home may do has changed."""

    def __init__(self, life: Life) -> None:
        self._changed = asyncio.Event()
        life.target.ownership_changed = self._wait  # type: ignore[attr-defined]

    def tell(self) -> None:
        self._changed.set()

    async def _wait(self) -> None:
        await self._changed.wait()
        self._changed.clear()


@pytest.mark.tells_at_once
async def test_what_was_held_back_is_done_when_observing_is_over(clock: Clock) -> None:
    life, refused = Life(clock), [True]
    record = observing(lambda: refused[0])
    changed = Changing(life)
    async with life.observing(record):
        await life.apply(store(), wanting())
        assert "s" in told(record)
        assert await life.data("x") is None
        refused[0] = False
        changed.tell()
        await life.wait(1)
        assert await life.data("x") == {"a": "v"}
        assert told(record) == {}


async def test_an_object_that_goes_is_told_no_more(clock: Clock) -> None:
    life, record = Life(clock), observing()
    async with life.running():
        await life.apply(store())
    async with life.observing(record):
        await life.apply(wanting())
        assert "x" in told(record)
        await life.delete(ref("x", kind="ExternalSecret"))
        assert told(record) == {}


async def test_what_waits_for_a_store_that_nobody_has_validated_is_told(clock: Clock) -> None:
    """The verdict on the store is not written, so nothing would ever run its dependents."""
    life, record = Life(clock), observing()
    await life.cluster.apply(store())
    await life.cluster.apply(wanting())
    async with life.observing(record), asyncio.timeout(HOUR):
        await life.view().running.engine.first_pass.wait()
        assert told(record)["x"][-1] == "read ExternalSecret/default/x: once what it needs is written"
