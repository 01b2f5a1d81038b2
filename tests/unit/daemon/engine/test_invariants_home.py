"""I15, I21: an API server that is away, and one whose rules refuse what it stored before it had them."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import Invalid, StorageUnavailable, StoredObject
from tests.unit.daemon.engine.life import HOUR, Life, Troubled, X, store, wanting

OBJECTS = 50


class Away(Troubled):
    """A home whose server can be away: a request finds that out, and then each run asks first."""

    is_away = False
    is_known = False

    def _reach(self) -> None:
        if self.is_away:
            self.is_known = True
            raise StorageUnavailable("the API server refuses connections")
        self.is_known = False

    async def check_durable(self) -> None:
        if self.is_known:
            self._reach()

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        self._reach()
        return await self._home.get(ref)

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        self._reach()
        return await super().create(document, field_manager=field_manager)

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        self._reach()
        return await super().update(document, field_manager=field_manager)

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        self._reach()
        return await super().update_status(seen, status)


async def test_i15_nothing_is_fetched_again_for_want_of_a_write(clock: Clock) -> None:
    life = Life(clock)
    life.target = home = Away(life.home)
    life.manager.values |= {f"k{number}": "old" for number in range(OBJECTS)}
    async with life.running():
        await life.apply(store())
        for number in range(OBJECTS):
            await life.cluster.apply(wanting(f"x{number}", key=f"k{number}", refreshInterval="1m"))
        await life.settle()
        assert life.reads == OBJECTS
        home.is_away = True
        await asyncio.sleep(5 * 60)
        assert life.reads <= 2 * OBJECTS, "once at most: what was read when the server went is not read again"
        read = life.reads
        home.is_away = False
        life.manager.values |= {f"k{number}": "new" for number in range(OBJECTS)}
        await asyncio.sleep(2 * 60)
        assert life.reads >= read + OBJECTS
        values = [await life.data(f"x{number}") for number in range(OBJECTS)]
        assert values == [{"a": "new"}] * OBJECTS
        assert not life.bugs


async def test_i21_an_object_that_the_server_refuses_to_write_is_told_and_tried_again_slowly(
    clock: Clock,
) -> None:
    life = Life(clock)
    told: Counter[str] = Counter()
    tries = 0

    async def refuse(seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        nonlocal tries
        if seen.ref == X:
            tries += 1
            raise Invalid("ExternalSecret/default/x: spec.target: Invalid value")
        return await life.home.update_status(seen, status)

    def record_event(seen: StoredObject, *, warning: bool, reason: str, message: str) -> None:
        if seen.ref == X and warning:
            told[f"{reason}: {message}"] += 1

    life.target.update_status = refuse  # type: ignore[method-assign]
    life.target.record_event = record_event  # type: ignore[attr-defined]
    async with life.running():
        await life.apply(store(), wanting(), wanting("other"))
        await life.wait(HOUR)
        assert (await life.ready(X._replace(name="other")))[0] == "True"
    assert list(told) == ["UpdateFailed: ExternalSecret/default/x: spec.target: Invalid value"]
    assert 2 <= tries <= 20
    assert life.reads <= 4, "the status alone is tried again"
