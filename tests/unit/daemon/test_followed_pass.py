"""How long changes are waited for before they count, on virtual time."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from syncret.config.settings import Settings
from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from syncret.daemon.followed_pass import AT_MOST, FollowedPass
from syncret.daemon.homes.contract import WatchEvent
from syncret.daemon.ops.logs.problems import ProblemLogger
from syncret.daemon.ops.logs.repeats import Repeats

ANY = cast("WatchEvent", None)


def ignore(*_: object) -> None:
    """Nobody tells of anything but the test."""


async def waited(changes: Sequence[float], quiet: float) -> float:
    """When it is over, with changes at these moments."""
    running: Any = SimpleNamespace(engine=SimpleNamespace(add_listener=ignore))
    home: Any = None
    followed = FollowedPass(Settings(), home, running, ProblemLogger(Repeats()))
    loop = asyncio.get_running_loop()
    begin = loop.time()
    for moment in changes:
        loop.call_later(moment, followed.notice, ANY)
    await followed.changed(quiet)
    return round(loop.time() - begin, 3)


@pytest.mark.parametrize(
    ("changes", "quiet", "over"),
    [
        pytest.param([3], 2, 5, id="one"),
        pytest.param([0, 1, 2.5], 2, 4.5, id="until it is quiet"),
        pytest.param(range(100), 2, AT_MOST, id="it never is"),
        pytest.param([1, 50], 60, 61, id="once as long as the quiet that was asked for"),
        pytest.param([1, 2], 0, 1, id="at once"),
    ],
)
def test_changes_count_when_they_have_come_to_rest(
    changes: Sequence[float], quiet: float, over: float
) -> None:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        assert runner.run(waited(changes, quiet)) == over
