"""ExternalSecret: what others change is repaired, what fails is told and tried again."""

import asyncio

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import Conflict, StorageUnavailable, StoredObject
from syncret.providers.errors import Denied, Malformed, Unavailable
from tests.unit.daemon.engine.life import HOUR, Life, X, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import NO_DATA, SYNCED

MANAGED = "reconcile.external-secrets.io/managed"


@pytest.mark.parametrize(
    "drift",
    [
        pytest.param({"stringData": {"a": "forged"}}, id="a value"),
        pytest.param({"stringData": {"more": "key"}}, id="a key more"),
        pytest.param({"metadata": {"labels": {MANAGED: None}}}, id="the mark"),
        pytest.param(
            {"metadata": {"annotations": {"reconcile.external-secrets.io/data-hash": "0"}}}, id="the hash"
        ),
    ],
)
async def test_drift_is_repaired_at_once(life: Life, drift: Document) -> None:
    await life.apply(store(), wanting())
    before = await life.existing(secret_ref("x"))
    await life.patch(secret_ref("x"), **drift)
    after = await life.existing(secret_ref("x"))
    assert await life.data("x") == {"a": "v"}
    for field in ("labels", "annotations"):
        assert after["metadata"][field] == before["metadata"][field]


async def test_a_deleted_secret_is_made_again_at_once(life: Life) -> None:
    await life.apply(store(), wanting())
    await life.delete(secret_ref("x"))
    assert await life.data("x") == {"a": "v"}


async def test_an_orphan_is_left_as_somebody_changed_it(life: Life) -> None:
    await life.apply(store(), wanting(target={"creationPolicy": "Orphan"}))
    await life.patch(secret_ref("x"), stringData={"a": "mine"})
    assert await life.data("x") == {"a": "mine"}
    assert life.reads == 1


async def test_a_failed_refresh_keeps_the_last_good_secret_and_its_time(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m"))
    synced = await life.status(X)
    life.manager.key_errors["k"] = Denied("not this key")
    await life.wait(600)
    status = await life.status(X)
    assert await life.data("x") == {"a": "v"}
    assert await life.ready(X) == NO_DATA
    for field in ("refreshTime", "syncedResourceVersion", "binding"):
        assert status[field] == synced[field]
    life.manager.key_errors.clear()
    await life.wait(600)
    assert await life.ready(X) == SYNCED


async def test_the_flip_of_the_condition_is_dated_once(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m"))
    life.manager.key_errors["k"] = Unavailable("away")
    await life.wait(600)
    since = (await life.status(X))["conditions"][0]["lastTransitionTime"]
    assert since == "2026-01-01T00:10:00Z"
    await life.wait(1200)
    assert (await life.status(X))["conditions"][0]["lastTransitionTime"] == since


async def test_a_retry_never_waits_longer_than_the_interval(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="20s"))
    life.manager.key_errors["k"] = Malformed("never mind")
    await life.wait(HOUR)
    runs = life.runs("x")
    await life.wait(200)
    assert life.runs("x") - runs == 10


async def test_a_conflict_is_tried_again_at_once(life: Life) -> None:
    life.target.troubles["Secret"] = [Conflict("modified")]
    await life.apply(store(), wanting())
    assert await life.ready(X) == SYNCED
    assert not [event for event in life.events if event[1]]


@pytest.mark.tells_at_once(reason="what a run came to is looked at before the next one")
async def test_a_home_that_cannot_be_written_is_told_and_tried_again(life: Life) -> None:
    life.target.troubles["Secret"] = [StorageUnavailable("the disk is full", hint="make room")]
    await life.apply(store(), wanting())
    assert await life.ready(X) == ("False", "SecretSyncedError", "could not update secret")
    failure = life.controllers.context.memory.failure(X)
    assert failure is not None
    assert (failure.message, failure.hint) == ("the disk is full", "make room")
    await life.wait(HOUR)
    assert await life.ready(X) == SYNCED
    assert life.controllers.context.memory.failure(X) is None


@pytest.mark.tells_at_once(reason="the moments of runs are counted from the change")
async def test_a_target_that_cannot_be_read_ends_the_run_at_once(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    await life.apply(store())

    async def fail(ref: ObjectRef) -> StoredObject | None:
        if ref.kind == "Secret":
            raise StorageUnavailable("the folder cannot be read", hint="mount it")
        return await life.cluster.get(ref)

    monkeypatch.setattr(life.target, "get", fail, raising=False)
    begin = asyncio.get_running_loop().time()
    await life.apply(wanting())
    assert asyncio.get_running_loop().time() - begin < 1, (
        "nothing was written: there is no outcome to wait for"
    )
    assert life.controllers.engine.failures(X) == 1
    assert life.reads == 0


async def test_absence_is_no_failure_of_the_call_and_not_a_deletion(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m", target={"deletionPolicy": "Delete"}))
    life.manager.key_errors["k"] = Unavailable("away")
    await life.wait(600)
    assert await life.data("x") == {"a": "v"}
    del life.manager.key_errors["k"], life.manager.values["k"]
    await life.wait(600)
    assert await life.data("x") is None
    assert await life.ready(X) == ("True", "SecretDeleted", "secret deleted due to DeletionPolicy=Delete")
    assert ("x", False, "MissingProviderSecret") in [event[:3] for event in life.events]
    life.manager.values["k"] = "back"
    await life.wait(600)
    assert await life.data("x") == {"a": "back"}
