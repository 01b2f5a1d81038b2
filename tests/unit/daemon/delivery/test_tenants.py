"""Deliveries of tenants: in a folder that they may write to, for the paths and units that they were given."""

import json
from pathlib import Path
from typing import Any

import pytest

from syncret.config.resources.kinds import DELIVERY
from syncret.config.settings import BoundFolder
from tests.unit.daemon.delivery.world import World, delivery, secret

TEAM = DELIVERY.ref("team-a", "web")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A host with a folder of a team, which the team can write to."""
    made = World(tmp_path)
    folder = tmp_path / "team-a"
    folder.mkdir()
    folder.chmod(0o777)
    made.bound = (
        BoundFolder(
            path=str(folder),
            namespaces=("team-a",),
            kinds=("Secret", "Delivery", "ExternalSecret"),
            deliver_to=(str(made.srv),),
            units=("a.service",),
        ),
    )
    return made


def put(world: World, name: str = "tls", **spec: Any) -> None:  # noqa: ANN401  # any field
    """What the team writes."""
    targets = spec.pop("to", [{"directory": {"path": str(world.srv / name)}}])
    document = delivery(to=targets, **spec)
    for each in (secret(crt="1"), document):
        each["metadata"]["namespace"] = "team-a"
        path = Path(world.bound[0].path, f"{each['kind']}.json")
        path.write_text(json.dumps(each))
        path.chmod(0o666)


async def test_a_team_delivers_where_it_may_and_has_its_unit_reloaded(world: World) -> None:
    put(world, reload={"unit": "a.service"})
    async with world.running():
        assert world.ready(TEAM) == ("True", "Delivered")
        assert world.files() == {"crt": "1"}
        assert world.units.asked == [("a.service", "reload")]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"reload": {"unit": "b.service"}}, id="the unit of others"),
        pytest.param({"check": {"exec": ["/usr/bin/true"]}}, id="a program"),
        pytest.param({"to": [{"directory": {"path": "/etc/team-a"}}]}, id="a folder of others"),
    ],
)
async def test_what_is_outside_of_its_bounds_never_becomes_an_object(
    world: World, spec: dict[str, Any]
) -> None:
    put(world, "other", **spec)
    async with world.running():
        assert world.engine.inventory.get(TEAM) is None
        put(world)
        await world.home.look()
        await world.settle()
        put(world, "other", **spec)
        await world.home.look()
        await world.settle()
        assert world.files("other") == {}
        assert world.units.asked == []
        assert world.files() == {"crt": "1"}, "what it had within its bounds stays"


async def test_bounds_are_asked_again_at_each_delivery(world: World) -> None:
    put(world, reload={"unit": "a.service"})
    async with world.running():
        stored = world.engine.inventory.get(TEAM)
        assert stored is not None
        changed = {**stored.document, "spec": {**stored.document["spec"], "reload": {"unit": "b.service"}}}
        await world.home.update(changed)
        await world.settle()
        assert world.ready(TEAM) == ("False", "Refused")
        assert "b.service is not a unit of" in world.message(TEAM)
        assert world.units.asked == [("a.service", "reload")]


async def test_a_delivery_that_a_program_made_is_refused_beside_tenants(world: World) -> None:
    async with world.running():
        made = delivery(to=[{"directory": {"path": str(world.srv / "made")}}])
        made["metadata"]["namespace"] = "team-a"
        await world.home.create(made)
        await world.settle()
        assert world.ready(TEAM) == ("False", "Refused")
        assert "no file of this host defines the Delivery" in world.message(TEAM)
