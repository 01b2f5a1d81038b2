"""Requests need real time; what only waits lives on virtual time (marked so)."""

import pytest

from tests.support.loops import Factories, loop_for


def pytest_asyncio_loop_factories(item: pytest.Item) -> Factories:
    return loop_for(item, "real")
