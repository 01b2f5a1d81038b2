"""Azure for each test, at the tests' own clock, and what resources there have."""

from collections.abc import AsyncIterator

import pytest

from tests.support.opened import Clock
from tests.support.servers.azure.server import Azure, azure
from tests.support.servers.azure.variables import variables


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cloud(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Azure]:
    """Azure's endpoints of this process lead here."""
    for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    async with azure(clock) as cloud:
        for name, value in variables(cloud).items():
            monkeypatch.setenv(name, value)
        yield cloud
