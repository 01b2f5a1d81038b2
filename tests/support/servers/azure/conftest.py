"""A running server."""

from collections.abc import AsyncIterator

import pytest

from tests.support.servers.azure.server import Azure
from tests.support.servers.azure.server import azure as running


@pytest.fixture
async def cloud() -> AsyncIterator[Azure]:
    async with running() as cloud:
        yield cloud
