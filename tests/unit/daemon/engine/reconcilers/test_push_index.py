"""Which PushSecrets may have something to delete at a store, and whom a refresh of one wakes."""

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.engine.reconcilers.context import PushIndex
from syncret.daemon.homes.contract import WatchEvent, WatchEventType
from tests.unit.daemon.engine.life import HOUR, PUSH, STORE, Life, manifest, secret_ref, store
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, entry, pushing
from tests.unit.daemon.engine.support import ref, stored

OTHER = ref("s", kind="SecretStore", namespace="other")
CLUSTER = ref("s", kind="ClusterSecretStore", namespace="")
SELECTED: Document = {"labelSelector": {"matchLabels": {"push": "yes"}}}


def event(type_: WatchEventType = WatchEventType.ADDED, *, pushed: str = "", **spec: Json) -> WatchEvent:
    whole = {"secretStoreRefs": [{"name": "t"}], "deletionPolicy": "Delete", **spec}
    status: Document = {"syncedPushSecrets": {pushed: {"r": {}}}} if pushed else {}
    document = manifest("PushSecret", "p", whole) | {"status": status}
    return WatchEvent(type_, PUSH.group_kind, stored(document))


@pytest.mark.parametrize(
    ("change", "stores"),
    [
        pytest.param(event(), [], id="another store"),
        pytest.param(event(secretStoreRefs=[{"name": "s"}]), [STORE], id="named"),
        pytest.param(
            event(secretStoreRefs=[{"name": "s", "kind": "ClusterSecretStore"}]), [CLUSTER], id="cluster-wide"
        ),
        pytest.param(event(secretStoreRefs=[SELECTED]), [STORE], id="selected, perhaps"),
        pytest.param(event(pushed="SecretStore/s"), [STORE], id="something stands there"),
        pytest.param(event(pushed="ClusterSecretStore/s"), [CLUSTER], id="and cluster-wide"),
        pytest.param(
            event(secretStoreRefs=[{"name": "s"}], deletionPolicy="None"), [], id="it deletes nothing"
        ),
        pytest.param(event(secretStoreRefs="s"), [], id="it cannot be read"),
    ],
)
def test_the_index(change: WatchEvent, stores: list[ObjectRef]) -> None:
    index = PushIndex()
    index.notice(change)
    assert [each for each in (STORE, OTHER, CLUSTER) if index.at(each)] == stores
    assert all(index.at(each) == {PUSH} for each in stores)


def test_the_index_hears_of_push_secrets_alone() -> None:
    assert PushIndex().concerns(PUSH.group_kind)
    assert not PushIndex().concerns(STORE.group_kind)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(event(WatchEventType.MODIFIED, deletionPolicy="None"), id="it deletes nothing any more"),
        pytest.param(event(WatchEventType.MODIFIED), id="it names another store"),
        pytest.param(event(WatchEventType.DELETED, secretStoreRefs=[{"name": "s"}]), id="it is gone"),
    ],
)
def test_the_index_forgets(change: WatchEvent) -> None:
    index = PushIndex()
    index.notice(event(secretStoreRefs=[{"name": "s"}]))
    index.notice(change)
    assert index.at(STORE) == set()


async def test_a_refresh_of_a_push_secret_does_not_wake_its_store(life: Life) -> None:
    await life.apply(SOURCE, store(refreshInterval=36000))
    await life.apply(pushing(entry("r"), deletionPolicy="Delete", refreshInterval="10m"))
    runs = life.runs("s", "SecretStore")
    await life.wait(HOUR)
    assert life.calls("push") == 7
    assert life.runs("s", "SecretStore") == runs


async def test_what_is_pushed_and_deleted_wakes_the_store(life: Life) -> None:
    await life.apply(SOURCE, store(refreshInterval=36000))
    await life.apply(pushing(entry("r"), deletionPolicy="Delete", refreshInterval="10m"))
    runs = life.runs("s", "SecretStore")
    await life.delete(secret_ref("q"))
    await life.wait(600)
    assert life.runs("s", "SecretStore") == runs + 1
