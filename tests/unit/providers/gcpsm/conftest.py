"""Google for each test, at the tests' own clock."""

from collections.abc import AsyncIterator

import pytest

from tests.support.opened import Clock, Given
from tests.support.servers.google.logins import Issuer
from tests.support.servers.google.server import Google, google
from tests.support.servers.google.variables import variables
from tests.unit.providers.gcpsm.logins import AUDIENCE, PRINCIPAL
from tests.unit.providers.gcpsm.stores import seed


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cloud(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Google]:
    """Google's endpoints of this process lead here. The machine has no account unless a test sets one."""
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    async with google(clock) as cloud:
        for name, value in variables(cloud).items():
            monkeypatch.setenv(name, value)
        yield cloud


@pytest.fixture
def given(cloud: Google) -> Given:
    """A Secret `key` with the key file of a service account that may do everything."""
    return Given(secrets={"key": {"key.json": cloud.identity.key_json(cloud.identity.account("app"))}})


CLUSTER = "https://container.googleapis.com/v1/projects/acme/locations/europe-west3/clusters/c1"


@pytest.fixture
def seeded(cloud: Google) -> None:
    """A secret that all who log in may read."""
    seed(cloud, "db", b"one")


@pytest.fixture
def cluster(cloud: Google) -> Issuer:
    """A cluster of GKE."""
    issuer = Issuer(CLUSTER, frozenset())
    cloud.logins.clusters["acme.svc.id.goog"] = issuer
    return issuer


@pytest.fixture
def issuer(cloud: Google) -> Issuer:
    issuer = Issuer("https://issuer.example", frozenset({"wanted"}))
    cloud.logins.providers[AUDIENCE] = issuer
    cloud.identity.members["acme"].add(PRINCIPAL)
    return issuer
