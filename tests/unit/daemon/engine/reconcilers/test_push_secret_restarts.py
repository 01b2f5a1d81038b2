"""PushSecret: restarts, wishes of operators, and what is never told."""

from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.life import HOUR, PUSH, Life, secret, store
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, entry, pushing
from tests.unit.daemon.engine.support import ref


async def test_a_restart_pushes_nothing_that_is_not_due(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(SOURCE, store(), pushing(entry("r")))
    async with life.running():
        assert life.calls("push") == 1
        await life.wait(HOUR)
        assert life.calls("push") == 2
    assert not life.bugs


async def test_an_operators_wish_pushes_at_once(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r")))
    life.controllers.context.memory.request_refresh(PUSH)
    life.controllers.engine.refresh(PUSH)
    await life.settle()
    assert life.calls("push") == 2
    assert not life.controllers.context.memory.refresh_request(PUSH)


async def test_neither_status_nor_events_quote_a_value(life: Life) -> None:
    life.faults["push"] = "refused"
    await life.apply(secret("q", {"a": "planted-value"}), store(), pushing(entry("r")))
    assert (await life.ready(PUSH))[0] == "False"
    assert "planted" not in repr(life.events) + repr(await life.get(PUSH))
    assert ref("p") not in life.seen.left
