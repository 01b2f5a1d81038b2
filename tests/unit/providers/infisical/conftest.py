"""Infisical and clouds for each test; the daemon has no identity at any, until a test gives it one."""

from collections.abc import AsyncIterator

import pytest

from tests.support.opened import NOW
from tests.support.servers.azure.server import Azure, azure
from tests.support.servers.google.server import Google, google
from tests.support.servers.infisical.clouds import METHODS
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.rest import running
from tests.support.servers.sts import Sts, sts

VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_STS_ENDPOINT",
    "AZURE_AUTHORITY_HOST",
    "AZURE_FEDERATED_TOKEN_FILE",
    "IDENTITY_ENDPOINT",
    "GCE_METADATA_HOST",
)


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon has no identity, until a test gives it one."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def server() -> AsyncIterator[Infisical]:
    async with running(Infisical()) as server:
        server.secrets = {("/", "A"): "1"}
        server.clouds.methods = METHODS
        yield server


@pytest.fixture
async def aws(server: Infisical, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sts]:
    """AWS, which also the daemon asks for keys."""
    async with sts() as service:
        server.clouds.sts = service
        monkeypatch.setenv("AWS_STS_ENDPOINT", service.url)
        yield service


@pytest.fixture
async def cloud(server: Infisical, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Azure]:
    """Azure, whose machine the daemon runs on."""
    async with azure(lambda: NOW) as service:
        server.clouds.directory = service.directory
        service.directory.resources |= {"https://management.azure.com/", "api://shop"}
        monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", service.url)
        yield service


@pytest.fixture
async def machine(server: Infisical, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Google]:
    """Google, whose machine the daemon runs on."""
    async with google(lambda: NOW) as service:
        server.clouds.email = service.machine.email = service.identity.account("shop")
        monkeypatch.setenv("GCE_METADATA_HOST", service.host)
        yield service
