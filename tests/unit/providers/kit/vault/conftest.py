"""Tests of this folder run on virtual time."""

import asyncio
from collections.abc import Callable, Mapping

from syncret.daemon.engine.virtual_time import VirtualTimeLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": VirtualTimeLoop}
