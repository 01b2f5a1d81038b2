"""Stores that an object names, on a home that announces what was written later than it writes."""

from collections.abc import AsyncIterator

import pytest

from syncret.config.meta import GroupKind
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import WatchEvent, WatchEventType
from tests.unit.daemon.engine.life import HOUR, PUSH, STORE, Life, X, store, wanting
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, SYNCED, account, entry, pushing
from tests.unit.daemon.engine.support import GROUP

KINDS = ("SecretStore", "ClusterSecretStore")
BY_LABEL = [{"kind": "SecretStore", "labelSelector": {"matchLabels": {"push": "yes"}}}]


@pytest.fixture
async def unwatched(clock: Clock) -> AsyncIterator[Life]:
    """A cluster whose stores cannot be watched now."""
    async with Life(clock).running() as life:
        for kind in KINDS:
            life.controllers.inventory.apply(WatchEvent(WatchEventType.UNKNOWN, GroupKind(GROUP, kind)))
        yield life
        assert not life.bugs


async def test_a_store_that_was_not_announced_yet_is_found(life: Life) -> None:
    await life.apply(SOURCE, store())
    stored = await life.cluster.get(STORE)
    assert stored is not None
    inventory = life.controllers.inventory
    inventory.apply(WatchEvent(WatchEventType.DELETED, STORE.group_kind, stored))
    assert inventory.get(STORE) is None
    await life.apply(pushing(entry("r")))
    assert await life.ready(PUSH) == SYNCED
    assert await account(life) == {"SecretStore/s": ["r"]}


@pytest.mark.parametrize("refs", [[{"name": "s"}], BY_LABEL], ids=["by name", "by label"])
async def test_a_store_that_cannot_be_watched_is_not_called_absent(
    unwatched: Life, refs: list[dict[str, object]]
) -> None:
    await unwatched.apply(SOURCE, pushing(entry("r"), secretStoreRefs=refs), wanting())
    assert (await unwatched.ready(PUSH))[2] == "objects of kind SecretStore cannot be watched now"
    assert "cannot be watched now" in unwatched.last_error(X)
    await unwatched.wait(HOUR)
    assert "cannot be watched now" in unwatched.last_error(PUSH)  # tried again and again
