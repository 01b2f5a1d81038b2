"""A running server for the proofs."""

from collections.abc import AsyncIterator

import pytest

from tests.support.servers.ibm.server import Ibm
from tests.support.servers.ibm.server import ibm as running


@pytest.fixture
async def cloud() -> AsyncIterator[Ibm]:
    async with running() as cloud:
        yield cloud
