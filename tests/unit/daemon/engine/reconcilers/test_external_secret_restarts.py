"""ExternalSecret: restarts, wishes of operators, and what is gone."""

import asyncio

from syncret.daemon.engine.clock import Clock
from syncret.providers.errors import Unavailable
from tests.unit.daemon.engine.life import HOUR, Life, X, fake_store, manifest, store, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import NO_DATA, SYNCED


async def test_a_restart_reads_nothing_that_is_not_due(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store(), wanting())
    async with life.running():
        assert life.reads == 1
        assert life.calls("probe") == 1
        await life.wait(HOUR)
        assert life.reads == 2


async def test_a_store_that_hangs_holds_up_a_stop_no_longer_than_the_drain_timeout(clock: Clock) -> None:
    life, loop = Life(clock), asyncio.get_running_loop()
    async with life.running(drain_timeout=20.0, call_timeout=1000.0):
        await life.apply(store(), wanting())
        life.manager.gate.clear()
        life.controllers.context.memory.request_refresh(X)
        life.controllers.engine.refresh(X)
        await asyncio.sleep(1)
        begin = loop.time()
    assert loop.time() - begin == 20
    assert life.manager.closed == len(life.manager.opened) == 1
    assert not life.manager.busy


async def test_an_operators_wish_is_granted_at_once_and_outlives_failures(life: Life) -> None:
    await life.apply(store(), wanting())
    life.manager.key_errors["k"] = Unavailable("away")
    life.controllers.context.memory.request_refresh(X)
    life.controllers.engine.refresh(X)
    await life.settle()
    assert life.reads == 2
    assert await life.ready(X) == NO_DATA
    life.manager.key_errors.clear()
    await life.wait(60)
    assert await life.ready(X) == SYNCED
    assert not life.controllers.context.memory.refresh_request(X)


async def test_what_is_gone_is_forgotten(life: Life) -> None:
    await life.apply(store(), wanting())
    assert life.controllers.context.memory.origins(X) == {"a": "spec.data[0]"}
    await life.delete(X)
    assert not life.controllers.context.memory.origins(X)
    assert X in life.seen.left


async def test_no_event_and_no_failure_quotes_a_value(life: Life) -> None:
    extract = {"secretStoreRef": {"name": "s"}, "dataFrom": [{"extract": {"key": "k"}}]}
    await life.apply(fake_store("s", {"k": "planted-value"}), manifest("ExternalSecret", "x", extract))
    failure = life.controllers.context.memory.failure(X)
    assert failure is not None
    assert await life.ready(X) == NO_DATA
    assert "planted" not in repr(life.events) + repr(failure) + repr(await life.get(X))
