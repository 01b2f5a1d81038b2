"""ExternalSecret: a refresh looks at its target only if it must, where the home knows what is unchanged."""

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.core.secret import is_intact, secret_data
from syncret.daemon.homes.contract import StoredObject
from tests.unit.daemon.engine.life import HOUR, Life, X, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import SYNCED

TARGET = secret_ref("x")


@pytest.fixture
def looks(life: Life, monkeypatch: pytest.MonkeyPatch) -> list[ObjectRef]:
    """The reads of targets; the home knows of each Secret whether it is as it was written."""
    found: list[ObjectRef] = []
    get = life.cluster.get

    async def counted(ref: ObjectRef) -> StoredObject | None:
        if ref.kind == "Secret":
            found.append(ref)
        return await get(ref)

    def is_unchanged(ref: ObjectRef) -> bool:
        known = life.controllers.context.inventory.get(ref)
        return known is not None and is_intact(known.document, secret_data(known.document))

    monkeypatch.setattr(life.cluster, "get", counted)
    monkeypatch.setattr(life.cluster, "is_unchanged", is_unchanged)
    return found


async def settled(life: Life, looks: list[ObjectRef], *wanted: Document) -> None:
    """After the second look: the first refresh has found it in order."""
    await life.apply(store(), *(wanted or (wanting(),)))
    await life.wait(HOUR)
    assert TARGET in looks
    looks.clear()


async def test_a_refresh_that_finds_nothing_new_does_not_look(life: Life, looks: list[ObjectRef]) -> None:
    await settled(life, looks)
    before = await life.status(X)
    looks.clear()
    await life.wait(HOUR)
    await life.wait(HOUR)
    assert not looks
    assert life.reads == 4
    after = await life.status(X)
    assert after["refreshTime"] > before["refreshTime"]
    assert {**after, "refreshTime": ""} == {**before, "refreshTime": ""}
    assert await life.ready(X) == SYNCED
    assert life.written() == ["create x"]


async def test_a_new_value_is_written(life: Life, looks: list[ObjectRef]) -> None:
    await settled(life, looks)
    life.manager.values["k"] = "new"
    await life.wait(HOUR)
    assert TARGET in looks
    assert await life.data("x") == {"a": "new"}
    await life.wait(HOUR)
    looks.clear()
    await life.wait(HOUR)
    assert not looks
    assert life.written() == ["create x", "update x"]


@pytest.mark.parametrize(
    "merge",
    [
        pytest.param({"metadata": {"labels": {"team": "blue"}}}, id="a label"),
        pytest.param({"metadata": {"annotations": {"note": "b"}}}, id="an annotation"),
        pytest.param({"spec": {"target": {"creationPolicy": "Orphan"}}}, id="the policy"),
        pytest.param({"spec": {"target": {"template": {"type": "example.com/x"}}}}, id="the template"),
        pytest.param({"spec": {"target": {"immutable": True}}}, id="immutable"),
        pytest.param({"spec": {"data": [{"secretKey": "b", "remoteRef": {"key": "k"}}]}}, id="a key"),
    ],
)
async def test_what_is_wanted_now_is_written(life: Life, looks: list[ObjectRef], merge: Document) -> None:
    await settled(life, looks)
    await life.patch(X, **merge)
    assert TARGET in looks


async def test_a_target_that_others_wrote_is_looked_at(life: Life, looks: list[ObjectRef]) -> None:
    await settled(life, looks)
    await life.patch(TARGET, metadata={"labels": {"theirs": "1"}})
    await life.patch(X, metadata={"annotations": {"force-sync": "1"}})
    assert TARGET in looks
    assert (await life.existing(TARGET))["metadata"]["annotations"]["force-sync"] == "1"


async def test_a_target_that_is_gone_is_made_again(life: Life, looks: list[ObjectRef]) -> None:
    await settled(life, looks)
    await life.delete(TARGET)
    await life.wait(HOUR)
    assert await life.data("x") == {"a": "v"}


async def test_a_policy_that_keeps_foreign_keys_looks_each_time(life: Life, looks: list[ObjectRef]) -> None:
    await life.cluster.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "namespace": "default"}}
    )
    await settled(life, looks, wanting(target={"creationPolicy": "Merge"}))
    await life.wait(HOUR)
    assert TARGET in looks


async def test_a_deletion_looks_at_what_it_deletes(life: Life, looks: list[ObjectRef]) -> None:
    await settled(life, looks, wanting(target={"deletionPolicy": "Delete"}))
    await life.delete(X)
    assert TARGET in looks
    assert await life.get(TARGET) is None
