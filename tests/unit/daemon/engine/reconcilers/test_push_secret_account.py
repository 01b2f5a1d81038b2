"""PushSecret: whatever stands at a store is in the status, whatever happens during a run."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import Conflict, StorageUnavailable, StoredObject
from syncret.providers.errors import Denied
from tests.unit.daemon.engine.life import (
    HOUR,
    PUSH,
    STORE,
    Life,
    Troubled,
    manifest,
    secret,
    secret_ref,
    store,
)
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, SYNCED, account, entry, pushing
from tests.unit.daemon.engine.support import ref

CES = ref("c", kind="ClusterExternalSecret", namespace="")


class Owing(Troubled):
    """A home that cannot write the status of a PushSecret at first, or its finalizers."""

    statuses: Sequence[Exception] = ()
    finalizers: Sequence[Exception] = ()
    strips = False
    """Whether something removes each finalizer in the moment in which it is set."""

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        if seen.ref == PUSH and self.statuses:
            error, *self.statuses = self.statuses
            raise error
        return await super().update_status(seen, status)

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        if seen.ref == PUSH and self.finalizers:
            error, *self.finalizers = self.finalizers
            raise error
        if self.strips:
            finalizers = seen.document["metadata"].get("finalizers", [])
        return await super().set_finalizers(seen, finalizers)


@pytest.fixture
async def life(clock: Clock) -> AsyncIterator[Life]:
    life = Life(clock)
    life.target = Owing(life.home)
    async with life.running() as running:
        yield running
        assert not life.bugs


def owing(life: Life) -> Owing:
    assert isinstance(life.target, Owing)
    return life.target


@pytest.mark.parametrize(
    "errors",
    [
        pytest.param([Conflict("modified")] * 3, id="the object changes"),
        pytest.param([StorageUnavailable("the disk is full")] * 2, id="the home cannot be written to"),
    ],
)
@pytest.mark.parametrize("policy", ["Replace", "IfNotExists"])
async def test_a_status_that_cannot_be_written_is_owed_and_nothing_is_pushed_again(
    life: Life, errors: list[Exception], policy: str
) -> None:
    await life.apply(SOURCE, store())
    owing(life).statuses = errors
    await life.apply(pushing(entry("r"), updatePolicy=policy))
    await life.wait(HOUR / 2)
    assert (await life.ready(PUSH))[1] == "Synced"
    assert await account(life) == {"SecretStore/s": ["r"]}
    assert life.calls("push") == 1
    assert life.last_error(PUSH) == ""


async def test_a_requested_refresh_is_not_repeated_for_a_status_that_is_owed(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r")))
    await life.wait(1)
    owing(life).statuses = [StorageUnavailable("the disk is full")]
    life.controllers.context.memory.request_refresh(PUSH)
    life.controllers.engine.refresh(PUSH)
    await life.wait(HOUR / 2)
    assert life.calls("push") == 2
    assert await life.ready(PUSH) == SYNCED


async def test_an_edit_during_a_push_does_not_lose_what_was_pushed(life: Life) -> None:
    await life.apply(SOURCE, store())
    life.manager.delay = 5
    await life.cluster.apply(pushing(entry("old"), deletionPolicy="Delete"))
    await asyncio.sleep(2)  # it is pushing
    await life.cluster.patch(PUSH, {"spec": {"data": [entry("new")]}})
    await life.settle()
    assert await life.ready(PUSH) == SYNCED
    assert await account(life) == {"SecretStore/s": ["new"]}
    assert life.manager.values.keys() == {"k", "new"}


async def test_a_deletion_during_a_push_takes_back_what_was_pushed(life: Life) -> None:
    await life.apply(SOURCE, store())
    life.manager.delay = 5
    await life.cluster.apply(pushing(entry("r"), deletionPolicy="Delete"))
    await asyncio.sleep(2)  # it is pushing
    await life.cluster.remove(PUSH)
    await life.settle()
    assert await life.get(PUSH) is None
    assert life.manager.values.keys() == {"k"}


async def test_an_edit_during_a_push_leaves_the_verdict_to_the_next_run(life: Life) -> None:
    await life.apply(SOURCE, store())
    life.manager.delay = 5
    await life.cluster.apply(pushing(entry("r")))
    await asyncio.sleep(2)  # it is pushing
    await life.cluster.patch(PUSH, {"spec": {"data": [entry("u", "missing")]}})
    await life.settle()
    assert (await life.ready(PUSH))[2] == "set secret failed: secret key missing does not exist"
    assert await account(life) == {"SecretStore/s": ["r"]}
    assert "syncedResourceVersion" not in await life.status(PUSH)


async def test_what_was_deleted_is_not_deleted_again_for_a_finalizer(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete"))
    owing(life).finalizers = [Conflict("modified")] * 3
    await life.delete(PUSH)
    assert await life.get(PUSH) is None
    assert life.calls("delete") == 1


@pytest.mark.parametrize(
    ("ref", "wanted"),
    [
        pytest.param(PUSH, pushing(entry("r"), deletionPolicy="Delete"), id="of a PushSecret"),
        pytest.param(STORE, store(), id="of its store"),
        pytest.param(CES, manifest("ClusterExternalSecret", "c", namespace=""), id="cluster-wide"),
    ],
)
async def test_a_finalizer_that_does_not_stay_is_set_a_few_times_and_then_rarely(
    life: Life, ref: ObjectRef, wanted: Document
) -> None:
    owing(life).strips = True
    await life.apply(SOURCE, pushing(entry("r"), deletionPolicy="Delete"), wanted)
    assert 1 <= life.controllers.engine.failures(ref) <= 2
    assert life.calls("push") == 0


TEAM = {"team": "a"}


@pytest.mark.parametrize("policy", ["Delete", "None"])
async def test_a_selector_that_matches_nothing_any_more_deletes_and_forgets_nothing(
    life: Life, policy: str
) -> None:
    await life.apply(secret("q", {"a": "1"}, labels=TEAM), store())
    selector = {"secret": {"selector": {"matchLabels": TEAM}}}
    await life.apply(pushing(entry("r"), selector=selector, deletionPolicy=policy, refreshInterval="10m"))
    await life.delete(secret_ref("q"))
    await life.wait(600)
    assert await life.ready(PUSH) == SYNCED
    assert await account(life) == {"SecretStore/s": ["r"]}
    assert life.calls("delete") == 0
    await life.delete(PUSH)
    assert ("r" in life.manager.values) is (policy == "None")


async def test_what_a_selector_left_is_deleted_once_it_matches_again(life: Life) -> None:
    await life.apply(secret("q", {"a": "1"}, labels=TEAM), store())
    selector = {"secret": {"selector": {"matchLabels": TEAM}}}
    every = [{"storeRef": {"name": "s"}}]
    await life.apply(pushing(dataTo=every, selector=selector, deletionPolicy="Delete", refreshInterval="10m"))
    await life.delete(secret_ref("q"))
    await life.wait(600)
    await life.apply(secret("q2", {"b": "2"}, labels=TEAM))
    await life.wait(600)
    assert await account(life) == {"SecretStore/s": ["b"]}
    assert life.manager.values.keys() == {"k", "b"}


async def test_a_store_that_fails_keeps_no_other_from_being_cleaned(life: Life) -> None:
    refs = [{"name": "a"}, {"name": "s"}]
    await life.apply(SOURCE, store("a"), store())
    await life.apply(pushing(entry("r"), secretStoreRefs=refs, deletionPolicy="Delete"))
    await life.patch(PUSH, spec={"secretStoreRefs": [{"name": "s"}], "data": [entry("u")]})
    assert await account(life) == {"SecretStore/s": ["u"]}
    await life.patch(PUSH, spec={"secretStoreRefs": refs})
    life.manager.errors = [Denied("not with this token")]
    await life.delete(PUSH)
    assert (await life.ready(PUSH))[2] == "Failed to Delete Secrets from Provider: not with this token"
    assert await account(life) == {"SecretStore/a": ["u"]}
    await life.wait(HOUR)
    assert await life.get(PUSH) is None


async def test_a_source_without_name_and_selector_is_none(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), selector={"secret": {}}))
    assert await life.ready(PUSH) == ("False", "Errored", "could not get source secret")
    assert life.last_error(PUSH) == "no secret selector provided"
    assert life.calls("push") == 0
