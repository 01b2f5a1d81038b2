"""Plays all scenarios to both sides at once, step by step, and waits until both have come to rest."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tests.real.differential.comparing import World, differences
from tests.real.differential.known import unknown
from tests.real.differential.scenarios import Scenario
from tests.real.differential.sides import Side

AT_LEAST: Final = 6.0
"""Seconds for which nothing is believed: the operator may not have begun."""

AT_REST: Final = 3.0
AT_MOST: Final = 30.0
"""Seconds of one step: then what differs, differs. The operator tries again after 1, 2, 4, 8 and 16 s."""


class Ended(NamedTuple):
    """How a step of a scenario ended on both sides."""

    place: int
    differences: Sequence[str]


async def play(scenarios: Sequence[Scenario], theirs: Side, ours: Side) -> Mapping[str, Sequence[Ended]]:
    """How each step of each scenario ended."""
    ended: dict[str, list[Ended]] = {each.id: [] for each in scenarios}
    for place in range(max(len(each.steps) for each in scenarios)):
        refused = await asyncio.gather(theirs.step(scenarios, place), ours.step(scenarios, place))
        active = [each for each in scenarios if len(each.steps) > place]
        found = await _rest(active, theirs, ours)
        for each in active:
            came = list(found[each.id])
            if refused[0][each.id] != refused[1][each.id]:
                came.append(f"refused: {refused[0][each.id]} / {refused[1][each.id]}")
            ended[each.id].append(Ended(place, came))
    return ended


async def _rest(scenarios: Sequence[Scenario], theirs: Side, ours: Side) -> Mapping[str, Sequence[str]]:
    """What differs once nothing changes any more: times and versions apart, which are no part of a world."""
    begin = time.monotonic()
    last: dict[str, tuple[World, World]] = {}
    since = dict.fromkeys((each.id for each in scenarios), begin)
    open_, found = {each.id for each in scenarios}, dict[str, Sequence[str]]()
    while open_:
        await asyncio.sleep(0.5)
        sides = await asyncio.gather(theirs.look(), ours.look())
        now = time.monotonic()
        for scenario in (each for each in scenarios if each.id in open_):
            worlds = sides[0].world(scenario), sides[1].world(scenario)
            if worlds != last.get(scenario.id):
                last[scenario.id], since[scenario.id] = worlds, now
            found[scenario.id] = list(differences(*worlds))
            rests = now - since[scenario.id] >= AT_REST and now - begin >= AT_LEAST
            is_settled = rests and not unknown(scenario.id, found[scenario.id])
            if is_settled or now - begin >= AT_MOST:
                open_.discard(scenario.id)
    return found
