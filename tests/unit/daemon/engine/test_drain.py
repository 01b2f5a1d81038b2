"""The end of a whole life: one deadline for all that is under way, whoever waits for it."""

import asyncio

from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.life import Life, store, wanting


async def test_runs_and_calls_share_one_deadline(clock: Clock) -> None:
    loop = asyncio.get_running_loop()
    async with Life(clock).running(drain_timeout=3.0, call_timeout=1000.0) as life:
        await life.apply(store(), wanting())
        life.manager.gate.clear()
        await life.cluster.apply(wanting(key="other"))
        await asyncio.sleep(1)
        begin = loop.time()
    assert loop.time() - begin == 3
    assert life.manager.closed == 1
