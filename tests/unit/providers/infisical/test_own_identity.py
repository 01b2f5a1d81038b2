"""Where the daemon's own identity goes: to a server that the rules allow, and to no other."""

import pytest

from syncret.config.fields import Json
from syncret.config.settings import OwnIdentity
from syncret.providers.errors import Denied
from syncret.providers.infisical.receivers import receivers
from tests.support.opened import door_of
from tests.support.servers.azure.server import Azure
from tests.support.servers.google.server import Google
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.sts import Sts
from tests.unit.providers.infisical.stores import AWS, AZURE, GOOGLE, GOOGLE_KEY, ORACLE, reads, store


@pytest.mark.parametrize("auth", [AWS, AZURE, GOOGLE], ids=["aws", "azure", "google"])
async def test_no_proof_is_made_for_a_server_that_the_rules_do_not_allow(
    server: Infisical, machine: Google, cloud: Azure, aws: Sts, auth: dict[str, Json]
) -> None:
    with pytest.raises(Denied, match="must not be sent to") as caught:
        await reads(server, auth, door=door_of(OwnIdentity(), strict=True))

    assert "ownIdentity.receivers.infisical" in caught.value.hint
    assert (machine.machine.asked, cloud.machine.asked, aws.asked) == ([], [], [])
    assert server.clouds.bodies == []


@pytest.mark.parametrize(
    ("auth", "variables"),
    [
        pytest.param(AWS, {"AWS_REGION": "eu-west-1"}, id="aws"),
        pytest.param(AZURE, {"AZURE_FEDERATED_TOKEN_FILE": "/token"}, id="a workload at Azure"),
    ],
)
async def test_a_cloud_that_is_kept_to_cluster_stores(
    server: Infisical, auth: dict[str, Json], variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own server gets the daemon's proof first, for keys or for a token."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = OwnIdentity(cluster_only=("aws", "azurekv"))
    with pytest.raises(Denied, match="only cluster-scoped stores") as caught:
        await reads(server, auth, door=door_of(settings))

    assert "ownIdentity.clusterOnly" in caught.value.hint


@pytest.mark.parametrize("auth", [GOOGLE_KEY, ORACLE], ids=["a key file", "a key of Oracle"])
def test_credentials_that_are_named_are_not_the_daemon_s(auth: dict[str, Json]) -> None:
    assert [*receivers(store(auth))] == []


def test_the_login_that_is_used_decides() -> None:
    """Of several the first in the operator's order, which has Oracle's before AWS's."""
    assert [*receivers(store({**AWS, **ORACLE}))] == []
