"""A server of Akeyless for each test, and an environment without an identity at AWS."""

from collections.abc import AsyncIterator

import pytest

from tests.support.servers.akeyless.server import Akeyless
from tests.support.servers.rest import running


@pytest.fixture
async def server() -> AsyncIterator[Akeyless]:
    async with running(Akeyless()) as server:
        yield server


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment of a daemon that has no identity at AWS yet."""
    for name in ("PROFILE", "REGION", "DEFAULT_REGION", "WEB_IDENTITY_TOKEN_FILE", "STS_ENDPOINT"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name in ("CONTAINER_CREDENTIALS_FULL_URI", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    return monkeypatch
