"""What is done beside the home: a bug in it must not go unseen."""

import asyncio

import pytest

from syncret.daemon.homes.contract import HomeUnusable
from syncret.daemon.homes.kubernetes.election import Election, Held
from syncret.daemon.homes.kubernetes.other_operator.interlock import taking_part


class Leases:
    """Leases that nobody holds; with a bug where one is asked for."""

    def __init__(self, bug: Exception | None = None) -> None:
        self._bug = bug

    async def get(self) -> Held | None:
        if self._bug is not None:
            raise self._bug
        return None

    async def put(self, lease: Held, *, acquired: bool) -> Held:
        del acquired
        return lease


async def test_an_election_that_breaks_ends_what_relies_on_it() -> None:
    broken = Election(Leases(LookupError("a bug")), identity="a")
    with pytest.raises(LookupError, match="a bug"):
        async with taking_part(broken, "election"), asyncio.timeout(60.0):
            await asyncio.Event().wait()


async def test_an_error_of_what_relies_on_it_is_raised_as_it_is() -> None:
    with pytest.raises(HomeUnusable, match="away"):
        async with taking_part(Election(Leases(), identity="a"), "election"):
            raise HomeUnusable("away")


async def test_it_ends_with_the_block() -> None:
    async with taking_part(Election(Leases(), identity="a"), "election") as election:
        await asyncio.wait_for(election.changed(), 60.0)
    assert not [each for each in asyncio.all_tasks() if each.get_name() == "election"]
