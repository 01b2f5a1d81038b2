"""How a process is told that Azure is here: the variables that Azure's own tools read."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.support.servers.azure.directory import MANAGEMENT
from tests.support.servers.azure.server import Azure, azure


def variables(cloud: Azure) -> dict[str, str]:
    """The environment of the daemon."""
    return {
        "AZURE_AUTHORITY_HOST": cloud.url,
        "AZURE_POD_IDENTITY_AUTHORITY_HOST": cloud.url,
        "AZURE_RESOURCE_MANAGER_AUDIENCE": MANAGEMENT,
        "AZURE_RESOURCE_MANAGER_ENDPOINT": cloud.url,
    }


@asynccontextmanager
async def around(now: Callable[[], float], patch: pytest.MonkeyPatch) -> AsyncGenerator[Azure]:
    """Azure, to which the endpoints of this process lead; no identity is in its environment."""
    for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT"):
        patch.delenv(name, raising=False)
    async with azure(now) as cloud:
        for name, value in variables(cloud).items():
            patch.setenv(name, value)
        yield cloud
