"""Azure for each test, at the tests' own clock."""

from collections.abc import AsyncIterator

import pytest

from tests.support.opened import Clock, Given
from tests.support.servers.azure.server import Azure
from tests.support.servers.azure.variables import around
from tests.unit.providers.azurekv.stores import SECRET


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cloud(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Azure]:
    """Azure's endpoints of this process lead here."""
    async with around(clock, monkeypatch) as cloud:
        yield cloud


@pytest.fixture
def given(cloud: Azure) -> Given:
    """A Secret `login` with client ID and secret of an application that may do everything."""
    application = cloud.member("app", secret=SECRET)
    return Given(secrets={"login": {"id": application.client_id.encode(), "secret": SECRET.encode()}})
