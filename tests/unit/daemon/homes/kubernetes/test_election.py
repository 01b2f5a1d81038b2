"""Leader election of two and three replicas, on virtual time: pauses, partitions, lost answers, ends."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from random import Random

import msgspec
import pytest

from syncret.daemon.homes.contract import Conflict, OutcomeUnknown, StorageUnavailable
from syncret.daemon.homes.kubernetes.election import Election, Held

pytestmark = pytest.mark.time("virtual")

STEP = 0.05
"""Seconds between two looks at who may write."""


class Server:
    """One Lease, whose versions grow; every request takes its time."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.lease: Held | None = None
        self.number = 0
        self.writes: list[str] = []

    def write(self, lease: Held) -> Held:
        standing = "" if self.lease is None else self.lease.version
        if lease.version != standing:
            raise Conflict("the Lease was changed")
        self.number += 1
        self.lease = msgspec.structs.replace(lease, version=str(self.number))
        self.writes.append(lease.holder)
        return self.lease


class Replica:
    """One process: it may be cut off from the server, or stopped as by SIGSTOP."""

    def __init__(self, name: str, server: Server, *, ahead: float = 0.0) -> None:
        self.server = server
        self.is_cut_off = False
        self.loses_answers = 0.0
        self.slow = 0.05
        self._runs = asyncio.Event()
        self._runs.set()
        self.election = Election(self, identity=name, clock=lambda: _now() + ahead, pause=self._pause)
        self.task = asyncio.create_task(self.election.run())

    # What the election asks for.
    async def get(self) -> Held | None:
        await self._travel()
        found = self.server.lease
        await self._travel()
        return found

    async def put(self, lease: Held, *, acquired: bool) -> Held:
        del acquired
        await self._travel()
        written = self.server.write(lease)
        await self._travel()
        if self.server.chance.random() < self.loses_answers:
            raise OutcomeUnknown("no answer came")
        return written

    async def _travel(self) -> None:
        await self._pause(self.server.chance.random() * self.slow)
        if self.is_cut_off:
            await self._pause(1.0)
            raise StorageUnavailable("no route")

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._runs.wait()

    # What happens to it.
    def stop(self) -> None:
        self._runs.clear()

    def go_on(self) -> None:
        self._runs.set()

    async def kill(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    @property
    def writes(self) -> bool:
        """Whether it may write at this moment."""
        return self.election.is_active and not self.task.done()


def _now() -> float:
    return asyncio.get_running_loop().time()


class Replicas:
    """Some replicas, watched all the time: never may two of them write."""

    def __init__(self, count: int, chance: Random, *, apart: float = 0.0) -> None:
        self.server = Server(chance)
        self.all = [Replica(f"r{number}", self.server, ahead=number * apart) for number in range(count)]
        self.watcher = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while True:
            assert sum(each.writes for each in self.all) <= 1, "two replicas may write"
            await asyncio.sleep(STEP)

    @property
    def active(self) -> Replica | None:
        return next((each for each in self.all if each.writes), None)

    async def until(self, condition: Callable[[], object], seconds: float) -> float:
        """Wait for it, in virtual time; how long it took."""
        begin = _now()
        while not condition():
            assert not self.watcher.done(), self.watcher.exception()
            assert _now() - begin < seconds, f"not within {seconds} s"
            await asyncio.sleep(STEP)
        return _now() - begin

    async def one_active(self, seconds: float = 15.0) -> Replica:
        await self.until(lambda: self.active is not None, seconds)
        assert self.active is not None
        return self.active


@asynccontextmanager
async def replicas(count: int, seed: int = 1, *, apart: float = 0.0) -> AsyncGenerator[Replicas]:
    some = Replicas(count, Random(seed), apart=apart)  # noqa: S311  # moments, not keys
    try:
        yield some
    finally:
        if some.watcher.done():
            some.watcher.result()
        some.watcher.cancel()
        for each in some.all:
            await each.kill()
        await asyncio.gather(some.watcher, return_exceptions=True)


async def test_one_alone_is_active_at_once_and_stays_so() -> None:
    async with replicas(1) as some:
        active = await some.one_active(1)
        await asyncio.sleep(60)
        assert active.writes
        assert 25 < len(some.server.writes) < 35, "one renewal every two seconds"


@pytest.mark.parametrize("seed", range(5))
async def test_whoever_is_killed_is_followed_within_fifteen_seconds(seed: int) -> None:
    async with replicas(3, seed) as some:
        for left in (2, 1):
            active = await some.one_active()
            await active.kill()
            took = await some.until(lambda: some.active is not None, 15)
            assert took >= 8, "the Lease of the killed one has to end first"
            assert len([each for each in some.all if not each.task.done()]) == left


async def test_who_takes_the_lease_knows_since_which_version() -> None:
    async with replicas(2) as some:
        first = await some.one_active()
        assert first.election.taken == "1"
        await asyncio.sleep(5)
        assert some.server.number > 1, "it was renewed"
        assert first.election.taken == "1"
        before = some.server.number
        await first.kill()
        second = await some.one_active(20)
        assert int(second.election.taken) == before + 1


async def test_a_graceful_end_is_followed_within_a_second() -> None:
    async with replicas(3) as some:
        active = await some.one_active()
        await active.kill()
        await active.election.leave()
        assert await some.until(lambda: some.active is not None, 2) <= 1


@pytest.mark.parametrize("apart", [-300.0, 300.0])
async def test_clocks_that_differ_by_minutes_change_nothing(apart: float) -> None:
    async with replicas(3, apart=apart) as some:
        active = await some.one_active(5)
        await asyncio.sleep(60)
        assert some.active is active
        await active.kill()
        assert await some.until(lambda: some.active is not None, 15) >= 8


@pytest.mark.parametrize("seconds", [1.0, 5.0, 9.0, 12.0, 60.0])
async def test_a_replica_that_was_stopped_writes_nothing_late(seconds: float) -> None:
    async with replicas(3) as some:
        active = await some.one_active()
        active.stop()
        await asyncio.sleep(seconds)
        if seconds > 8:
            assert not active.election.is_active, "by the clock alone: it runs no code while it is stopped"
        active.go_on()
        await asyncio.sleep(30)
        assert some.active is not None


@pytest.mark.parametrize("seed", range(5))
async def test_who_is_cut_off_stops_before_another_begins(seed: int) -> None:
    async with replicas(2, seed) as some:
        active = await some.one_active()
        identity = active.election.identity
        active.is_cut_off = True
        await some.until(lambda: some.active not in {None, active}, 15)
        active.is_cut_off = False
        await asyncio.sleep(30)
        assert some.active is not active
        assert active.election.identity != identity


async def test_without_a_server_nobody_is_active_and_nobody_takes_over() -> None:
    async with replicas(3) as some:
        await some.one_active()
        for each in some.all:
            each.is_cut_off = True
        await asyncio.sleep(9)
        assert some.active is None
        await asyncio.sleep(300)
        assert some.active is None
        for each in some.all:
            each.is_cut_off = False
        await some.one_active(5)


async def test_what_holds_the_lease_under_another_program_is_waited_for() -> None:
    """An ESO with leader election holds it for fifteen seconds, and renews it."""
    async with replicas(1) as some:
        first = await some.one_active()
        await first.kill()
        lease = some.server.lease
        assert lease is not None
        some.server.write(Held(lease.version, "external-secrets-abc", 15.0))
        second = Replica("late", some.server)
        some.all.append(second)
        for _ in range(10):
            await asyncio.sleep(5)
            assert not second.writes
            held = some.server.lease
            assert held is not None
            some.server.write(msgspec.structs.replace(held, version=held.version))
        took = await some.until(lambda: second.writes, 20)
        assert took > 11, "its own fifteen seconds count, not our ten"


@pytest.mark.parametrize("seed", range(12))
async def test_ten_minutes_of_everything(seed: int) -> None:
    """Pauses, partitions, slow and lost answers, in any order: one at most, and one before long."""
    chance = Random(seed)  # noqa: S311  # moments, not keys
    async with replicas(3, seed) as some:
        idle = 0.0
        for _ in range(60):
            each = chance.choice(some.all)
            match chance.randrange(5):
                case 0:
                    each.stop()
                case 1:
                    each.is_cut_off = True
                case 2:
                    each.slow = chance.choice((0.01, 1.0, 4.0))
                case 3:
                    each.loses_answers = chance.choice((0.0, 0.3, 1.0))
                case _:
                    for one in some.all:
                        one.go_on()
                        one.is_cut_off = False
                        one.slow, one.loses_answers = 0.05, 0.0
            await asyncio.sleep(chance.uniform(1, 20))
            idle += some.active is None
            assert not some.watcher.done(), some.watcher.exception()
        for one in some.all:
            one.go_on()
            one.is_cut_off = False
            one.slow, one.loses_answers = 0.05, 0.0
        await some.one_active(20)


async def test_a_change_is_told() -> None:
    """The engine waits for it, to take over or to stop."""
    async with replicas(1) as some:
        (only,) = some.all
        await only.election.changed()
        assert only.writes
        only.is_cut_off = True
        begin = _now()
        await only.election.changed()
        assert some.active is None
        assert _now() - begin < 10
