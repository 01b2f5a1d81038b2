"""What calls compute is paid by the syncs that they are made for, and calls stay shared."""

import asyncio
from typing import Final

import pytest

from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.sessions.session import Session
from syncret.daemon.engine.work import SyncWork
from syncret.providers.errors import OverBudget
from syncret.providers.pushes import RemoteTarget
from syncret.providers.values import FindQuery, RemoteRef, SecretBytes
from syncret.providers.work import STEPS_A_SECOND
from tests.unit.daemon.engine.sessions.support import Make, item, read_one
from tests.unit.daemon.engine.support import Manager, store

pytestmark = pytest.mark.time("real")

TIME: Final = 0.01
COST: Final = round(TIME * STEPS_A_SECOND / 7)
"""Steps of a call, of which a sync can pay seven."""


def begin(sessions: SessionPool, *, spends: int = 0) -> tuple[Session, SyncWork]:
    """A sync of another object, which has spent some steps already."""
    work = sessions.threads.sync()
    work.work.steps -= spends
    return sessions.session(store(), "default", work), work


async def test_all_reads_of_an_object_pay_from_its_budget(make: Make, manager: Manager) -> None:
    manager.values = {f"k{number}": "v" for number in range(10)}
    manager.costs = (COST, 0)
    session, work = begin(await make(work_time=TIME))
    answers = (await session.read([RemoteRef(key) for key in manager.values])).values()
    assert sum(isinstance(answer, SecretBytes) for answer in answers) == 7
    assert {str(answer) for answer in answers if isinstance(answer, OverBudget)} == {
        "the object asks for more work than workTime allows"
    }
    assert work.work.spent
    with pytest.raises(OverBudget, match="workTime"):
        await work.run(lambda work: work.step())


async def test_another_object_has_a_budget_of_its_own(make: Make, manager: Manager) -> None:
    manager.costs = (4 * COST, 0)
    sessions = await make(work_time=TIME)
    for _ in range(3):
        assert await read_one(begin(sessions)[0], "a") == b"1"


async def test_pushes_pay_too(make: Make, manager: Manager) -> None:
    manager.costs = (COST, 0)
    session, _ = begin(await make(work_time=TIME))
    await session.probe()
    for number in range(3):
        await session.push(item(f"k{number}"))
        await session.exists(RemoteTarget(f"k{number}"))
    with pytest.raises(OverBudget, match="workTime"):
        await session.delete(RemoteTarget("k0"))
    assert "k0" in manager.values


async def test_who_has_most_left_pays_for_a_shared_read(make: Make, manager: Manager) -> None:
    manager.costs = (COST, 0)
    sessions = await make(work_time=TIME)
    poor, little = begin(sessions, spends=8 * COST)
    rich, much = begin(sessions)
    left = little.work.steps
    one, two = await asyncio.gather(read_one(poor, "a"), read_one(rich, "a"))
    assert one == two == b"1"
    assert manager.fetches == [("a",)]
    assert little.work.steps == left
    assert much.work.steps == left + 7 * COST


async def test_where_one_has_not_enough_the_next_one_pays(make: Make, manager: Manager) -> None:
    manager.costs = (0, 1000)
    sessions = await make(work_time=TIME, work_memory=1500)
    first, most_steps = begin(sessions)
    other, most_memory = begin(sessions, spends=COST)
    most_steps.work.memory = 500
    one, two = await asyncio.gather(read_one(first, "a"), read_one(other, "a"))
    assert one == two == b"1"
    assert manager.fetches == [("a",)]
    assert most_steps.work.spent
    assert not most_memory.work.spent


async def test_a_search_is_paid_by_the_first_that_asks(make: Make, manager: Manager) -> None:
    manager.costs = (COST, 0)
    manager.pages = 3
    sessions = await make(work_time=TIME)
    (first, payer), (other, unspent) = begin(sessions), begin(sessions)
    whole = unspent.work.steps
    query = FindQuery(name="x")
    found = await asyncio.gather(first.find(query), other.find(query))
    assert found[0] == found[1]
    assert manager.finds == 1
    assert payer.work.steps <= whole - 3 * COST
    assert unspent.work.steps > whole - COST


async def test_a_search_that_one_cannot_pay_is_made_again_for_the_others(
    make: Make, manager: Manager
) -> None:
    manager.costs = (COST, 0)
    sessions = await make(work_time=TIME)
    (poor, _), (rich, _) = begin(sessions, spends=7 * COST), begin(sessions)
    query = FindQuery(name="x")
    [failed, found] = await asyncio.gather(poor.find(query), rich.find(query), return_exceptions=True)
    assert isinstance(failed, OverBudget)
    assert not isinstance(found, BaseException)
    assert found
    assert manager.finds == 2


async def test_the_memory_of_a_call_is_given_back_at_its_end(make: Make, manager: Manager) -> None:
    manager.costs = (0, 1000)
    session, work = begin(await make(work_time=TIME, work_memory=1500))
    for _ in range(3):
        assert await read_one(session, "a") == b"1"
    await work.run(lambda work: work.take(0, 1400))
    assert isinstance(await read_one(session, "a"), OverBudget)


async def test_a_login_is_paid_by_none_of_those_that_wait_for_it(make: Make, manager: Manager) -> None:
    manager.wants_login, manager.login_costs = True, (COST, 0)
    sessions = await make(work_time=TIME)
    assert await read_one(begin(sessions)[0], "a") == b"1"
    manager.revoke()
    poor, _ = begin(sessions, spends=8 * COST)
    assert await read_one(poor, "b") == b"2"
    assert len(manager.logins) == 2
