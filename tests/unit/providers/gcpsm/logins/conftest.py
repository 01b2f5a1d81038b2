"""A secret that all who log in read, and a cluster of GKE."""

import pytest

from tests.support.servers.google.logins import Issuer
from tests.support.servers.google.server import Google
from tests.unit.providers.gcpsm.logins.support import AUDIENCE, PRINCIPAL
from tests.unit.providers.gcpsm.stores import seed

CLUSTER = "https://container.googleapis.com/v1/projects/acme/locations/europe-west3/clusters/c1"


@pytest.fixture(autouse=True)
def _seeded(cloud: Google) -> None:
    seed(cloud, "db", b"one")


@pytest.fixture
def cluster(cloud: Google) -> Issuer:
    issuer = Issuer(CLUSTER, frozenset())
    cloud.logins.clusters["acme.svc.id.goog"] = issuer
    return issuer


@pytest.fixture
def issuer(cloud: Google) -> Issuer:
    issuer = Issuer("https://issuer.example", frozenset({"wanted"}))
    cloud.logins.providers[AUDIENCE] = issuer
    cloud.identity.members["acme"].add(PRINCIPAL)
    return issuer
