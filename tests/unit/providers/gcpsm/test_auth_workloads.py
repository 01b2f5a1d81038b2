"""Logins to Google by workloads of GKE."""

import pytest

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.errors import Denied, Malformed
from syncret.providers.gcpsm.spec import GcpAuth, GcpWorkloadIdentity
from tests.support.opened import Clock
from tests.support.servers.google.logins import Issuer
from tests.support.servers.google.server import Google
from tests.unit.providers.gcpsm.logins import ANNOTATION, APP, WORKLOAD, reads, workload

pytestmark = pytest.mark.usefixtures("seeded")

WRITTEN = GcpAuth(
    workload_identity=GcpWorkloadIdentity(
        service_account_ref=ServiceAccountSelector(name="app", audiences=("more",)),
        cluster_location="europe-west3",
        cluster_name="c1",
        cluster_project_id="acme",
    )
)


async def test_a_workload_of_gke(cloud: Google, clock: Clock, cluster: Issuer) -> None:
    cloud.identity.members["acme"].add(WORKLOAD)
    given = workload(cluster, "acme.svc.id.goog")

    assert await reads(given, clock, WRITTEN, project_id=None) == b"one"
    assert given.asked == [("app", ("acme.svc.id.goog", "more"), 900)]
    assert cloud.identity.logins == [WORKLOAD]


async def test_a_workload_stands_for_a_service_account(cloud: Google, clock: Clock, cluster: Issuer) -> None:
    email = cloud.identity.account("target")
    given = workload(cluster, "acme.svc.id.goog", **{ANNOTATION: email})
    with pytest.raises(Denied, match="impersonating") as caught:
        await reads(given, clock, WRITTEN)
    cloud.identity.impersonators[email] = {WORKLOAD}

    assert caught.value.message == (
        "logging in by auth.workloadIdentity: impersonating the service account at Google: "
        "Google refuses it (HTTP 403)"
    )
    assert caught.value.hint.startswith(f"check the annotation {ANNOTATION} of ServiceAccount app: grant the")
    assert "roles/iam.workloadIdentityUser" in caught.value.hint
    assert await reads(given, clock, WRITTEN) == b"one"
    assert cloud.identity.logins[-2:] == [WORKLOAD, email]


async def test_the_machine_knows_its_cluster(cloud: Google, clock: Clock, cluster: Issuer) -> None:
    cloud.identity.members["acme"].add(WORKLOAD)
    auth = GcpAuth(workload_identity=GcpWorkloadIdentity(service_account_ref=APP))
    given = workload(cluster, "acme.svc.id.goog")
    with pytest.raises(Malformed, match="cluster-location") as caught:
        await reads(given, clock, auth)
    cloud.machine.attributes |= {"cluster-name": "c1", "cluster-location": "europe-west3"}

    assert "clusterName" in caught.value.hint
    assert await reads(given, clock, auth, project_id=None) == b"one"


@pytest.mark.parametrize("audience", ["another.svc.id.goog", "https://kubernetes"])
async def test_a_token_for_another_audience_is_refused(
    cloud: Google, clock: Clock, cluster: Issuer, audience: str
) -> None:
    doing = "exchanging the token of ServiceAccount app at Google"
    with pytest.raises(
        Denied, match=rf"by auth\.workloadIdentity: {doing}.*HTTP 400, invalid_grant"
    ) as caught:
        await reads(workload(cluster, audience), clock, WRITTEN)
    assert caught.value.hint.startswith("check auth.workloadIdentity.clusterProjectID, then ")
