"""Logins of the generator for Google's container registries."""

from base64 import b64encode
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector
from syncret.providers.gcpsm.gcr import GCR, GcrAccessTokenSpec, GcrAuth
from syncret.providers.gcpsm.spec import GcpSecretRef, GkeWorkloadIdentity
from tests.support.opened import NOW, Clock, Given, context
from tests.support.servers.google.identity import HOUR
from tests.support.servers.google.logins import Issuer
from tests.support.servers.google.server import Google
from tests.unit.providers.gcpsm.logins import (
    ANNOTATION,
    APP,
    CONFIG,
    SUBJECT,
    WORKLOAD,
    configured,
    external,
    federated,
    reads,
    workload,
)

pytestmark = pytest.mark.usefixtures("seeded")


async def test_a_login_for_the_registry(cloud: Google, given: Given, clock: Clock) -> None:
    selector = SecretKeySelector(name="key", key="key.json")
    auth = GcrAuth(secret_ref=GcpSecretRef(secret_access_key_secret_ref=selector))
    assert GCR.generate is not None
    made = await GCR.generate(GcrAccessTokenSpec(auth=auth, project_id="acme"), context(given, now=clock))

    values = {name: value.raw.decode() for name, value in made.values.items()}
    assert values["username"] == "oauth2accesstoken"
    assert cloud.identity.tokens[values["password"]].principal == "app@acme.iam.gserviceaccount.com"
    assert (values["expiry"], made.state) == (str(int(NOW) + HOUR - 1), None)


async def test_a_workload_logs_in_to_the_registry(cloud: Google, clock: Clock, cluster: Issuer) -> None:
    email = cloud.identity.account("target")
    cloud.identity.impersonators[email] = {WORKLOAD}
    workload_identity = GkeWorkloadIdentity(
        service_account_ref=APP, cluster_location="europe-west3", cluster_name="c1"
    )
    spec = GcrAccessTokenSpec(auth=GcrAuth(workload_identity=workload_identity), project_id="acme")
    given = workload(cluster, "acme.svc.id.goog", **{ANNOTATION: email})
    assert GCR.generate is not None
    made = await GCR.generate(spec, context(given, now=clock))

    assert cloud.identity.tokens[made.values["password"].raw.decode()].principal == email
    assert made.values["expiry"].raw == str(int(NOW) + HOUR).encode()


async def test_workforces_log_in_with_their_client(
    cloud: Google, clock: Clock, issuer: Issuer, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(issuer.token(SUBJECT, "wanted", now=NOW))
    config = external({"file": str(tmp_path / "token")}, client_id="id", client_secret="canary-8e")
    sent: list[str] = []

    def look(request: web.Request) -> None:
        if request.path == "/v1/token":
            sent.append(request.headers.get("Authorization", ""))

    with cloud.failing(look):
        await reads(configured(config), clock, federated(cred_config=CONFIG))
    assert sent == [f"Basic {b64encode(b'id:canary-8e').decode()}"]
