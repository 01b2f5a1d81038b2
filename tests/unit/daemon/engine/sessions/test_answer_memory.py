"""Runs, calls and turns with little memory for answers: nothing waits for what waits for it."""

import asyncio

import pytest

from syncret.daemon.descriptors import Descriptors
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.sessions import pool
from syncret.providers.answer_memory import LONGEST_WAIT, call_share
from tests.unit.daemon.engine.sessions.test_pool import running
from tests.unit.daemon.engine.support import Manager

ANSWER = 8 * 2**20
VALUE = 2**20
OBJECTS = 40


class Large(Manager):
    """Its answers take a quarter of the room, in two steps, and a value half of that while a run has it."""

    async def call(self, token: str = "") -> None:
        share = call_share.get()
        assert share is not None
        await share.take(ANSWER // 2)
        await super().call(token)
        await share.take(ANSWER // 2)


@pytest.mark.parametrize("calls", [2, 4, 16, 1000])
async def test_runs_that_hold_values_wait_for_the_turns_of_calls_that_wait_for_memory(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """Each run reads of two stores, and has one value while it waits for the other.

    None is helped by a time limit: a second of patience would be seen.
    """
    monkeypatch.setattr(
        pool, "descriptors", lambda: Descriptors(server_connections=4, writes=4, connections=2 * calls)
    )
    managers: dict[str, Manager] = {}
    for name in ("a", "b"):
        managers[name] = Large({f"k{number}": "v" * VALUE for number in range(OBJECTS)})
        managers[name].delay = 0.001
    objects = [("a+b", f"k{number}") for number in range(OBJECTS)]
    async with running(managers, clock, objects, requests_per_second=10_000.0, burst=10_000) as reading:
        async with asyncio.timeout(LONGEST_WAIT):
            while len(reading.values) < OBJECTS:  # noqa: ASYNC110  # no event tells
                await asyncio.sleep(0.01)

    assert all(len(values) == 2 for values in reading.values.values())
