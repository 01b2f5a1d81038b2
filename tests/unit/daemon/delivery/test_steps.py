"""The steps that a delivery tells of: what is owed, and how checks, reloads and ways back went."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.core.delivery.timing import StartLimit
from syncret.daemon.delivery import turns
from tests.unit.daemon.delivery.world import World, delivery, secret


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def tls(world: World, **spec: Any) -> dict[str, Any]:  # noqa: ANN401  # any field
    target = {"directory": {"path": str(world.srv / "tls")}}
    return delivery("web", **{"to": [target], "reload": {"unit": "nginx.service"}, **spec})


async def test_a_delivery_tells_what_it_does_and_when_nothing_is_owed_any_more(world: World) -> None:
    world.write(secret(crt="1"), tls(world, check={"unit": "check.service"}))
    async with world.running():
        assert world.took() == [
            ("due",),
            ("check", "success"),
            ("swap",),
            ("reload", "success", "reload"),
            ("reloaded",),
            ("over",),
        ]
        world.units.check = Outcome.FAILED
        await world.apply(secret(crt="2"))
        assert world.took() == [("due",), ("check", "failed"), ("over",)]


async def test_a_way_back_is_told_with_its_second_reload(world: World) -> None:
    world.write(secret(crt="1"), tls(world))
    async with world.running():
        world.took()
        world.units.outcome = lambda: Outcome.FAILED if world.files()["crt"] == "2" else Outcome.DONE
        await world.apply(secret(crt="2"))
        assert world.took() == [
            ("due",),
            ("swap",),
            ("reload", "failed", "reload"),
            ("reloaded",),
            ("rollback",),
            ("reload", "success", "reload"),
            ("over",),
        ]


async def test_a_reload_that_nobody_may_ask_for_stays_due(world: World) -> None:
    world.write(secret(crt="1"), tls(world))
    world.units.outcome = lambda: Outcome.NOT_ASKED
    async with world.running():
        assert world.took()[-2:] == [("reload", "not asked", "reload"), ("due",)]
        world.units.outcome = lambda: Outcome.DONE
        await world.refresh()
        assert world.took() == [("reload", "success", "reload"), ("reloaded",), ("over",)]


async def test_a_reload_that_several_share_is_told_once(world: World) -> None:
    places = [{"to": [{"file": {"path": str(world.srv / name), "key": "crt"}}]} for name in "ab"]
    reload = {"reload": {"unit": "nginx.service"}}
    world.write(secret(crt="1"), *(delivery(f"d{n}", **each, **reload) for n, each in enumerate(places)))
    async with world.running():
        steps = world.took()
    assert steps.count(("reload", "success", "reload")) == 1
    assert steps.count(("reloaded",)) == steps.count(("swap",)) == 2


async def test_what_was_mended_is_told(world: World) -> None:
    world.write(secret(crt="1"), tls(world))
    async with world.running():
        world.took()
        (world.srv / "tls" / "crt").write_text("x")
        await world.look_again()
        assert ("repair",) in world.took()


async def test_a_restart_that_waits_for_the_start_limit_of_its_unit_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write(secret(crt="1"), tls(world, reload={"unit": "nginx.service", "action": "restart"}))
    async with world.running():
        seen: list[tuple[tuple[str, str], str]] = []
        world.units.when_asked = lambda: seen.append((world.ready(), world.message()))

        def allowed_at(_limit: StartLimit, _restarts: Sequence[float], now: float) -> float:
            return now + 0.05

        monkeypatch.setattr(turns, "restart_allowed_at", allowed_at)
        await world.apply(secret(crt="2"))
        message = "set 2 is live, and its restart waits 1 s: so many are near the unit's start limit"
        assert seen == [(("False", "Throttled"), message)]
        assert world.ready() == ("True", "Delivered")
