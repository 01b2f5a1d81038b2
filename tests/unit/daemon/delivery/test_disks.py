"""Disks that refuse a swap, and then also the way back of what was swapped: told, and gone on with."""

import errno
import os
from pathlib import Path

import pytest

from syncret.daemon.delivery import targets
from syncret.daemon.delivery.host_targets import HostTargets
from syncret.daemon.files.syscalls import exchange
from tests.unit.daemon.delivery.world import World, delivery, secret


class Disk:
    """Exchanges names as long as it may, by its number of the call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refuses: set[int] = set()
        self.calls = 0
        monkeypatch.setattr(targets, "exchange", self.exchange)

    def exchange(self, folder: int, old: str, new: str) -> bool:
        self.calls += 1
        if self.calls in self.refuses:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return exchange(folder, old, new)

    def refuse(self, *calls: int) -> None:
        """These of the calls that follow."""
        self.calls, self.refuses = 0, set(calls)


async def two_folders(world: World) -> None:
    to = [{"directory": {"path": str(world.srv / name)}} for name in "ab"]
    world.write(secret(crt="1"), delivery(to=to, reload={"unit": "nginx.service"}))


async def test_a_swap_that_fails_takes_back_what_was_swapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, disk = World(tmp_path), Disk(monkeypatch)
    await two_folders(world)
    async with world.running():
        disk.refuse(2)
        await world.apply(secret(crt="2"))
        assert world.ready() == ("False", "SwapFailed")
        assert "Read-only file system" in world.message()
        assert [world.files(name) for name in "ab"] == [{"crt": "1"}] * 2
        await world.look_again()
        assert world.ready() == ("True", "Delivered")
        assert [world.files(name) for name in "ab"] == [{"crt": "2"}] * 2
    assert len(world.units.asked) == 2


async def test_a_set_that_is_live_in_part_is_told_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, disk = World(tmp_path), Disk(monkeypatch)
    await two_folders(world)
    async with world.running():
        disk.refuse(2, 3)
        await world.apply(secret(crt="2"))
        assert world.ready() == ("False", "SwapFailed")
        assert "set 2 is live in part: [Errno 30] Read-only file system" in world.message()
        assert world.status()["phase"] == "Swapping"
        assert len(world.units.asked) == 1, "no unit is reloaded while sets are mixed"
        assert ("due",) in world.took()[-1:]
        await world.look_again()
        assert world.ready() == ("True", "Delivered")
        assert [world.files(name) for name in "ab"] == [{"crt": "2"}] * 2
    assert len(world.units.asked) == 2


async def test_an_interrupted_swap_on_a_disk_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, disk = World(tmp_path), Disk(monkeypatch)
    await two_folders(world)
    async with world.running():
        disk.refuse(2, 3)
        await world.apply(secret(crt="2"))

        def broken(*_: object) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        with monkeypatch.context() as patched:
            patched.setattr(HostTargets, "finish", broken)
            await world.look_again()
            assert world.ready()[0] == "False"
            assert "Input/output error" in world.message()
        await world.look_again()
        assert world.ready() == ("True", "Delivered")
