"""Waiting costs nothing; what writes files lives in real time (marked so)."""

import pytest

from tests.support.loops import Factories, loop_for


def pytest_asyncio_loop_factories(item: pytest.Item) -> Factories:
    return loop_for(item, "virtual")
