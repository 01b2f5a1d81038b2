"""Expiring: one login however many callers, renewed in time, dropped when refused, safe to cancel."""

import asyncio

import pytest

from syncret.providers.errors import Denied, Unavailable
from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue
from syncret.providers.kit.http import Unauthenticated
from tests.support.opened import log_in


class Door:
    """A login that the test opens, and a clock that it moves."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.lifetime: float | None = 600.0
        self.logins = 0
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.held = ExpiringLogin(self.login, now=lambda: self.time, log_in=log_in)

    async def login(self) -> ExpiringValue[str]:
        self.logins += 1
        number = self.logins
        await self.gate.wait()
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return ExpiringValue(f"token-{number}", None if self.lifetime is None else self.time + self.lifetime)


@pytest.fixture
async def door() -> Door:
    return Door()


async def test_many_callers_are_one_login(door: Door) -> None:
    assert await asyncio.gather(*(door.held.get() for _ in range(50))) == ["token-1"] * 50
    assert door.logins == 1


async def test_many_callers_share_a_failure(door: Door) -> None:
    door.error = Denied("wrong password")
    results = await asyncio.gather(*(door.held.get() for _ in range(50)), return_exceptions=True)

    assert {str(result) for result in results} == {"wrong password"}
    assert len({id(result) for result in results}) == 50, "no caller shares another's traceback"
    assert door.logins == 1


async def test_it_is_tried_again_after_a_failure(door: Door) -> None:
    door.error = Unavailable("down")
    with pytest.raises(Unavailable):
        await door.held.get()
    door.error = None

    assert await door.held.get() == "token-2"


@pytest.mark.parametrize(
    ("lifetime", "later", "expected"),
    [
        pytest.param(600.0, 539.0, "token-1", id="fresh"),
        pytest.param(600.0, 541.0, "token-2", id="a minute before the end"),
        pytest.param(10.0, 7.0, "token-1", id="short and fresh"),
        pytest.param(10.0, 8.5, "token-2", id="a fifth before the end"),
        pytest.param(1.0, 7.0, "token-1", id="shorter than seconds"),
        pytest.param(1.0, 8.5, "token-2", id="after seconds"),
        pytest.param(None, 1e9, "token-1", id="for ever"),
    ],
)
async def test_it_is_renewed_in_time(door: Door, lifetime: float | None, later: float, expected: str) -> None:
    door.lifetime = lifetime
    await door.held.get()
    door.time += later

    assert await door.held.get() == expected


async def test_no_caller_waits_for_an_early_renewal(door: Door) -> None:
    await door.held.get()
    door.time += 590
    door.gate.clear()
    first = asyncio.create_task(door.held.get())
    await asyncio.sleep(0)

    assert await door.held.get() == "token-1"
    door.gate.set()
    assert await first == "token-2"
    assert await door.held.get() == "token-2"


async def test_a_renewal_that_fails_is_tried_again_in_a_while(door: Door) -> None:
    await door.held.get()
    door.time += 545
    door.error = Unavailable("down")

    assert await door.held.get() == "token-1"
    assert await door.held.get() == "token-1"
    assert door.logins == 2
    door.time += 11
    assert await door.held.get() == "token-1"
    assert door.logins == 3
    door.time += 60
    with pytest.raises(Unavailable):
        await door.held.get()


async def test_renewals_that_fail_are_tried_less_and_less_often(door: Door) -> None:
    await door.held.get()
    door.time += 545
    door.error = Unavailable("down")
    begin, tried = door.time, [door.time]
    for _ in range(50):
        known = door.logins
        await door.held.get()
        if door.logins > known:
            tried.append(door.time)
        door.time += 1
    assert [time - begin for time in tried[1:]] == [0, 10, 30]


async def test_a_refused_login_is_replaced_once(door: Door) -> None:
    refused = {"token-1"}
    calls: list[str] = []

    async def call(token: str) -> str:
        calls.append(token)
        await asyncio.sleep(0)
        if token in refused:
            raise Unauthenticated("expired")
        return token

    assert await asyncio.gather(*(door.held.use(call) for _ in range(5))) == ["token-2"] * 5
    assert door.logins == 2
    refused.add("token-2")
    refused.add("token-3")
    with pytest.raises(Unauthenticated):
        await door.held.use(call)
    assert calls[-2:] == ["token-2", "token-3"]


async def test_a_login_that_is_refused_again_is_not_repeated_for_each_caller(door: Door) -> None:
    async def call(_: str) -> str:
        raise Unauthenticated("of another tenant")

    for _ in range(100):
        with pytest.raises(Unauthenticated):
            await door.held.use(call)
    assert door.logins == 2
    door.time += 61
    with pytest.raises(Unauthenticated):
        await door.held.use(call)
    assert door.logins == 3


async def test_what_is_not_refused_passes(door: Door) -> None:
    async def call(_: str) -> str:
        raise Denied("not this one")

    with pytest.raises(Denied):
        await door.held.use(call)
    assert door.logins == 1


async def test_one_who_gives_up_spoils_nothing(door: Door) -> None:
    door.gate.clear()
    callers = [asyncio.create_task(door.held.get()) for _ in range(4)]
    await asyncio.sleep(0)
    callers[0].cancel()
    callers[2].cancel()
    await asyncio.sleep(0)
    door.gate.set()

    assert list(await asyncio.gather(callers[1], callers[3])) == ["token-2", "token-2"]
    assert door.logins == 2


@pytest.mark.parametrize("lifetime", [0.0, -7200.0], ids=["of no time", "as our clock is ahead"])
async def test_a_login_that_has_ended_already_is_used_for_some_seconds(door: Door, lifetime: float) -> None:
    door.lifetime = lifetime
    found = {await door.held.get() for _ in range(20)}
    logins = door.logins
    door.time += 11

    assert (found, logins) == ({"token-1"}, 1)
    assert await door.held.get() == "token-2"
    assert "token" not in repr(door.held)


async def test_a_login_that_has_ended_already_is_replaced_if_it_is_refused(door: Door) -> None:
    door.lifetime = -5.0

    async def call(token: str) -> str:
        if token == "token-1":
            raise Unauthenticated("expired")
        return token

    assert [await door.held.use(call) for _ in range(5)] == ["token-2"] * 5
    assert door.logins == 2
