"""Which client serves a store, and for how long."""

import asyncio

from syncret.daemon.homes.contract import WatchEventType
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.watch import event_of
from syncret.providers.errors import Malformed
from tests.unit.daemon.engine.sessions.support import Make, read_one
from tests.unit.daemon.engine.support import Manager, manifest, store


async def test_a_client_is_opened_when_needed_and_closed_when_idle(make: Make, manager: Manager) -> None:
    session = (await make(idle_close=60.0)).session(store(), "default")
    assert manager.opened == []
    await read_one(session, "a")
    await asyncio.sleep(59)
    await read_one(session, "a")
    await asyncio.sleep(59)
    assert (len(manager.opened), manager.closed) == (1, 0)
    await asyncio.sleep(2)
    assert manager.closed == 1
    assert await read_one(session, "a") == b"1"
    assert len(manager.opened) == 2


async def test_a_client_in_use_is_not_idle(make: Make, manager: Manager) -> None:
    session = (await make(idle_close=5.0, call_timeout=100.0)).session(store(), "default")
    manager.delay = 50
    assert await read_one(session, "a") == b"1"


async def test_a_changed_store_gets_a_new_client_and_the_old_one_finishes(
    make: Make, manager: Manager
) -> None:
    sessions = await make()
    manager.delay = 10
    old = asyncio.create_task(read_one(sessions.session(store(), "default"), "a"))
    await asyncio.sleep(5)
    changed = sessions.session(store(generation=2, version="2"), "default")
    manager.values["a"] = "new"
    assert await read_one(changed, "a") == b"new"
    assert await old == b"new"
    await asyncio.sleep(0)
    assert (len(manager.opened), manager.closed) == (2, 1)


async def test_a_new_status_of_a_store_changes_nothing(make: Make, manager: Manager) -> None:
    sessions = await make()
    await read_one(sessions.session(store(version="1"), "default"), "a")
    await read_one(sessions.session(store(version="2"), "default"), "a")
    assert len(manager.opened) == 1


async def test_a_deleted_store_is_closed_at_once(make: Make, manager: Manager) -> None:
    sessions = await make()
    await read_one(sessions.session(store(), "default"), "a")
    sessions.notice(event_of(WatchEventType.DELETED, store()))
    await asyncio.sleep(0.1)
    assert manager.closed == 1
    assert list(sessions.limits()) == []


async def test_a_store_remembers_across_clients_and_lives(make: Make, manager: Manager) -> None:
    sessions = await make()
    await read_one(sessions.session(store(), "default"), "a")
    manager.opened[0].store_memory["pushed"] = 1
    sessions.notice(event_of(WatchEventType.DELETED, store()))
    await read_one(sessions.session(store(generation=7, uid="other"), "default"), "a")
    assert manager.opened[1].store_memory == {"pushed": 1}


async def test_a_changed_credential_makes_a_new_client(
    make: Make, manager: Manager, home: MemoryCluster
) -> None:
    sessions = await make()
    secret = manifest("Secret", "login", group="", data={"token": "b25l"})
    first = await home.create(secret)
    asking = store(spec={"token": {"name": "login", "key": "token"}})
    await read_one(sessions.session(asking, "default"), "a")
    sessions.notice(event_of(WatchEventType.MODIFIED, first))
    await read_one(sessions.session(asking, "default"), "a")
    assert manager.tokens == [b"one"]
    second = await home.update({**first.document, "data": {"token": "dHdv"}})
    sessions.notice(event_of(WatchEventType.MODIFIED, second))
    await read_one(sessions.session(asking, "default"), "a")
    assert manager.tokens == [b"one", b"two"]
    assert manager.closed == 1


async def test_a_late_event_of_an_older_version_keeps_the_client(
    make: Make, manager: Manager, home: MemoryCluster
) -> None:
    sessions = await make()
    first = await home.create(manifest("Secret", "login", group="", data={"token": "b25l"}))
    await home.delete(first)
    second = await home.create(manifest("Secret", "login", group="", data={"token": "dHdv"}))
    asking = store(spec={"token": {"name": "login", "key": "token"}})
    await read_one(sessions.session(asking, "default"), "a")
    for late in (WatchEventType.ADDED, WatchEventType.MODIFIED, WatchEventType.DELETED):
        sessions.notice(event_of(late, first))
        await read_one(sessions.session(asking, "default"), "a")
    assert (manager.tokens, manager.closed) == ([b"two"], 0)
    sessions.notice(event_of(WatchEventType.DELETED, second))
    await read_one(sessions.session(asking, "default"), "a")
    assert manager.closed == 1


async def test_a_credential_that_appears_is_used_at_once(
    make: Make, manager: Manager, home: MemoryCluster
) -> None:
    sessions = await make()
    asking = store(spec={"token": {"name": "login", "key": "token"}})
    error = await read_one(sessions.session(asking, "default"), "a")
    assert isinstance(error, Malformed)
    assert 'Secret "login" from namespace "default": it does not exist' in str(error)
    await home.create(manifest("Secret", "login", group="", data={"token": "b25l"}))
    assert await read_one(sessions.session(asking, "default"), "a") == b"1"


async def test_a_cluster_store_is_shared_unless_it_borrows_credentials(
    make: Make, manager: Manager, home: MemoryCluster
) -> None:
    sessions = await make()
    own = store(namespace="", spec={"token": {"name": "login", "key": "token", "namespace": "vault"}})
    await home.create(manifest("Secret", "login", group="", namespace="vault", data={"token": "dg=="}))
    for namespace in ("x", "y"):
        assert await read_one(sessions.session(own, namespace), "a") == b"1"
    assert manager.tokens == [b"v"]
    referent = store("r", namespace="", spec={"token": {"name": "login", "key": "token"}})
    for namespace in ("x", "y"):
        value = {"x": "eA==", "y": "eQ=="}[namespace]
        await home.create(manifest("Secret", "login", group="", namespace=namespace, data={"token": value}))
        assert await read_one(sessions.session(referent, namespace), "a") == b"1"
    assert manager.tokens == [b"v", b"x", b"y"]
    assert await sessions.session(referent, "").probe() == "unknown"
    assert await sessions.session(referent, "").capabilities() == ""
