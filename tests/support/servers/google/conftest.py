"""A running server, and clients of Google's that talk to nothing else."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.servers.google.sdk import credentials_module
from tests.support.servers.google.server import Google
from tests.support.servers.google.server import google as running


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest clients ask, in the background, where a caller may be; at an address that is not ours."""
    asks: Any = credentials_module.CredentialsWithRegionalAccessBoundary

    def known(_self: object, _url: str) -> bool:
        return True

    monkeypatch.setattr(asks, "_is_regional_endpoint", known)


@pytest.fixture
async def cloud() -> AsyncIterator[Google]:
    async with running() as cloud:
        yield cloud
