"""Which writes go first while there are more than the home takes at once, on virtual time."""

import asyncio

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.waking import MAX_URGENT_DEPENDENTS
from syncret.daemon.homes.contract import StoredObject
from tests.unit.daemon.engine.life import Life, store, wanting

MANY = MAX_URGENT_DEPENDENTS + 20
SECONDS = 1.0


async def test_what_is_new_is_written_before_what_was_there_at_the_start(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    life, written = Life(clock), list[str]()
    create = life.cluster.create

    async def slow(document: Document, *, field_manager: str = "") -> StoredObject:
        await asyncio.sleep(SECONDS)
        written.append(document["metadata"]["name"])
        return await create(document, field_manager=field_manager)

    async def come_later() -> None:
        await asyncio.sleep(4.5 * SECONDS)
        await life.cluster.apply(wanting("new"))

    for document in (store(), *(wanting(f"x{number}") for number in range(MANY))):
        await life.cluster.apply(document)
    monkeypatch.setattr(life.cluster, "create", slow)
    coming = asyncio.create_task(come_later())
    async with life.running(api_writes=1):
        await coming
    assert len(written) == MANY + 1
    assert written.index("new") < 10, "those that had begun to write by then go on"
