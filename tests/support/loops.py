"""The event loop of a test: time that passes, or virtual time."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Literal

import pytest

from syncret.daemon.engine.virtual_time import VirtualTimeLoop

Factories = Mapping[str, Callable[[], asyncio.AbstractEventLoop]]

_FACTORIES: Final[Factories] = {"real": asyncio.new_event_loop, "virtual": VirtualTimeLoop}


def loop_for(item: pytest.Item, usual: Literal["real", "virtual"]) -> Factories:
    """The loop of a test: the usual one of its folder, unless it is marked `time("real")` or so."""
    mark = item.get_closest_marker("time")
    chosen = usual if mark is None else mark.args[0]
    return {chosen: _FACTORIES[chosen]}
