"""A daemon that ends at any step of a delivery, and its next start: whole sets, no reload lost."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.delivery.host_targets import HostTargets
from syncret.daemon.engine.writes import Writes
from tests.unit.daemon.delivery.world import World, delivery, secret

pytestmark = pytest.mark.slow  # three lives of a daemon for each step
MOST_STEPS = 60


class Killed(BaseException):
    """The process ends here: nothing is cleaned up."""


class Steps:
    """Counts what a delivery does, and ends the process before or after one of it."""

    def __init__(self) -> None:
        self.at = -1
        self.count = 0
        self.is_dead = False

    def step(self) -> None:
        if self.is_dead or (self.at >= 0 and self.count == self.at):
            self.is_dead = True
            raise Killed
        self.count += self.at >= 0

    def arm(self, number: int) -> None:
        self.at, self.count, self.is_dead = number, 0, False

    def disarm(self) -> None:
        self.arm(-1)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    found = Steps()

    def around(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:  # noqa: ANN401  # as the real one
            found.step()
            result = real(*args, **keywords)
            found.step()
            return result

        return call

    def around_async(real: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def call(*args: Any, **keywords: Any) -> None:  # noqa: ANN401  # as the real one
            found.step()
            await real(*args, **keywords)
            found.step()

        return call

    for name in ("stage", "swap", "swap_back", "discard_staged"):
        monkeypatch.setattr(HostTargets, name, around(getattr(HostTargets, name)))
    monkeypatch.setattr(Writes, "update_status", around_async(Writes.update_status))
    return found


async def life(world: World) -> bool:
    """One life of the daemon; False if it was killed."""
    try:
        async with world.running():
            pass
    except BaseException as error:
        if not _is_kill(error):
            raise
        return False
    return True


def _is_kill(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_kill, cast("BaseExceptionGroup[BaseException]", error).exceptions))
    return isinstance(error, Killed)


def sets(world: World) -> list[set[str]]:
    """What a reader finds in each target."""
    tls = set(world.files("tls").values())
    links = {each.read_text() for each in (world.srv / "links").iterdir() if not each.name.startswith("..")}
    return [tls, links, {(world.srv / "one").read_text()}]


@pytest.mark.parametrize("action", ["reload", "restart"])
@pytest.mark.parametrize("works", [True, False], ids=["forward", "back"])
async def test_wherever_it_ends_the_next_start_ends_what_was_begun(
    tmp_path: Path, steps: Steps, action: str, *, works: bool
) -> None:
    crashes = 0
    for number in range(MOST_STEPS):
        folder = tmp_path / str(number)
        folder.mkdir()
        world = World(folder)
        world.keep_state = True
        targets = [
            {"directory": {"path": str(world.srv / "tls")}},
            {"directory": {"path": str(world.srv / "links"), "layout": "links"}},
            {"file": {"path": str(world.srv / "one"), "key": "crt"}},
        ]
        reload = {"unit": "nginx.service", "action": action}
        world.write(secret(crt="1", key="1"), delivery(to=targets, reload=reload))
        assert await life(world)
        assert world.units.asked == [("nginx.service", action)]

        seen: list[str] = []  # what the unit has read

        def read(world: World = world, seen: list[str] = seen) -> None:
            whole = sets(world)
            assert whole in ([{"1"}] * 3, [{"2"}] * 3), "nothing is told of a mixture"
            seen.append(whole[0].pop())

        def outcome(world: World = world) -> Outcome:
            done = Outcome.DONE if works or world.files("tls")["crt"] == "1" else Outcome.FAILED
            active = "failed" if action == "restart" and done is Outcome.FAILED else "active"
            world.units.state = replace(world.units.state, active=active)
            steps.step()
            return done

        world.units.when_asked, world.units.outcome = read, outcome
        world.write(secret(crt="2", key="2"))
        steps.arm(number)
        killed = not await life(world)
        crashes += killed
        steps.disarm()
        assert all(len(each) == 1 for each in sets(world)), f"torn at step {number}"

        assert await life(world)
        live = "2" if works else "1"
        assert sets(world) == [{live}] * 3, f"step {number}"
        assert "2" in seen, f"a lost reload at step {number}"
        assert seen[-1] == live, f"the unit has not read what is live, after step {number}"
        doubles = len(seen) - (1 if works else 2)
        repeats = sum(reason == "ReloadRepeated" for _, reason in world.events)
        assert doubles <= repeats or not killed, f"a silent double after step {number}: {seen}"
        assert sorted(each.name for each in world.srv.iterdir() if "next" in each.name) == []
        if not killed:
            break
    assert 10 < crashes < MOST_STEPS
