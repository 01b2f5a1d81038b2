"""When the daemon is ready: what programs wait for at a boot, and what only takes long."""

import pytest

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import DELIVERY, EXTERNAL_SECRET
from syncret.daemon.engine.first_pass import FirstPass

WEB, DB = DELIVERY.ref("default", "web"), DELIVERY.ref("default", "db")
ES = EXTERNAL_SECRET.ref("default", "es")


async def begun(*refs: ObjectRef) -> tuple[FirstPass, list[float]]:
    took: list[float] = []
    first = FirstPass(took.append)
    for ref in refs:
        first.expect(ref)
    assert not first.synced.is_set()
    first.all_known()
    return first, took


async def test_with_deliveries_it_does_not_wait_for_the_rest() -> None:
    first, took = await begun(WEB, DB, ES)
    first.is_live(WEB)  # its reload and its proof are still to come
    assert not first.delivered.is_set()
    first.is_decided(DB)  # it failed
    assert first.delivered.is_set()
    assert not first.complete.is_set()
    first.is_decided(ES)
    first.is_decided(WEB)
    assert first.complete.is_set()
    assert len(took) == 1


@pytest.mark.parametrize("refs", [(), (ES,)], ids=["nothing", "no Delivery"])
async def test_without_deliveries_it_waits_for_all(refs: tuple[ObjectRef, ...]) -> None:
    first, took = await begun(*refs)
    assert first.delivered.is_set() is not bool(refs)
    for ref in refs:
        first.is_decided(ref)
    assert first.delivered.is_set()
    assert first.complete.is_set()
    assert len(took) == 1


async def test_what_came_after_the_start_holds_nothing_up() -> None:
    first, _ = await begun(ES)
    first.is_live(WEB)
    first.is_decided(WEB)
    assert not first.delivered.is_set()
    first.is_decided(ES)
    assert first.delivered.is_set()
