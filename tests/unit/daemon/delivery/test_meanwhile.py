"""What changes while a Delivery is carried out: the newest set wins, and what was begun is ended."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.unit.daemon.delivery.world import NAME, World, delivery, secret


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def tls(world: World, **spec: Any) -> dict[str, Any]:  # noqa: ANN401  # any field
    target = {"directory": {"path": str(world.srv / "tls")}}
    return delivery(to=[target], check={"unit": "check.service"}, reload={"unit": "nginx.service"}, **spec)


async def test_a_source_that_changes_at_each_step_is_delivered_in_order_and_the_newest_wins(
    world: World,
) -> None:
    world.write(secret(crt="1", key="1"), tls(world))
    async with world.running():
        looks: list[asyncio.Future[Any]] = []
        coming = iter("3456")

        def change() -> None:
            value = next(coming, None)
            if value is not None:
                world.write(secret(crt=value, key=value))
                looks.append(asyncio.ensure_future(world.home.look()))

        seen: list[str] = []

        def told() -> None:
            files = world.files()
            assert files["crt"] == files["key"], "no set is torn"
            seen.append(files["crt"])
            change()

        world.units.when_started, world.units.when_asked = change, told
        await world.apply(secret(crt="2", key="2"))
        while not all(each.done() for each in looks):
            await asyncio.gather(*looks)
            await world.settle()
        assert next(coming, None) is None, "it changed at every step"
        assert seen == sorted(set(seen)), "in order, and no set twice"
        assert seen[-1] == "6"
        assert world.files() == {"crt": "6", "key": "6"}
        assert (world.ready(), world.status()["phase"]) == (("True", "Delivered"), "Settled")


@pytest.mark.parametrize(("policy", "left"), [("Retain", {"crt": "2"}), ("Delete", {})])
async def test_a_delivery_that_is_deleted_during_its_reload_ends_that_first(
    world: World, policy: str, left: dict[str, str]
) -> None:
    world.write(secret(crt="1"), tls(world, deletionPolicy=policy))
    async with world.running():
        deleted: list[asyncio.Future[Any]] = []

        def delete() -> None:
            stored = world.engine.inventory.get(NAME)
            assert stored is not None
            deleted.append(asyncio.ensure_future(world.home.delete(stored)))

        world.units.when_asked = delete
        await world.apply(secret(crt="2"))
        await asyncio.gather(*deleted)
        await world.settle()
        assert [unit for unit, _ in world.units.asked] == ["nginx.service"] * 2
        assert world.engine.inventory.get(NAME) is None
        assert world.files() == left
