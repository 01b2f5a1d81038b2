"""Azure for each test, at the tests' own clock: fixtures for the conftest of a folder."""

from collections.abc import AsyncIterator

import pytest

from tests.support.opened import Clock
from tests.support.servers.azure.server import Azure
from tests.support.servers.azure.variables import around


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cloud(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Azure]:
    """Azure's endpoints of this process lead here."""
    async with around(clock, monkeypatch) as cloud:
        yield cloud
