"""Google for each test, at the tests' own clock."""

from collections.abc import AsyncIterator

import pytest

from tests.support.opened import Given
from tests.support.servers.google.server import Google, google
from tests.support.servers.google.variables import variables
from tests.unit.providers.gcpsm.stores import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cloud(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Google]:
    """This process is told that Google is here. There is no machine's account unless a test gives one."""
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    async with google(clock) as cloud:
        for name, value in variables(cloud).items():
            monkeypatch.setenv(name, value)
        yield cloud


@pytest.fixture
def given(cloud: Google) -> Given:
    """A Secret `key` with the key file of a service account that may do everything."""
    return Given(secrets={"key": {"key.json": cloud.identity.key_json(cloud.identity.account("app"))}})
