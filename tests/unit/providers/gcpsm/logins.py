"""Who logs in to Google, and how the tests see that it worked."""

import json
from typing import Any

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import IssuedToken
from syncret.providers.gcpsm.spec import ConfigMapKeySelector, GcpAuth, GcpWorkloadIdentityFederation
from syncret.providers.values import RemoteRef, SecretBytes
from tests.support.opened import NOW, Clock, Given
from tests.support.servers.google.logins import POOLS, Issuer
from tests.unit.providers.gcpsm.stores import opened, read

AUDIENCE = f"{POOLS}/p/providers/oidc"
POOL = "projects/123456789012/locations/global/workloadIdentityPools/p"
SUBJECT = "system:serviceaccount:default:app"
PRINCIPAL = f"principal://iam.googleapis.com/{POOL}/subject/{SUBJECT}"
WORKLOAD = "serviceAccount:acme.svc.id.goog[default/app]"
ANNOTATION = "iam.gke.io/gcp-service-account"
APP = ServiceAccountSelector(name="app")


async def reads(given: Given, clock: Clock, auth: GcpAuth, **spec: str | None) -> bytes | None:
    """The value of the secret `db`, read by one who logs in like this."""
    async with opened(given, clock, auth, **spec) as client:
        return await read(client, RemoteRef("db"))


def workload(issuer: Issuer, *audiences: str, **annotations: str) -> Given:
    """A home whose API server issues this token for the ServiceAccount `app`."""
    token = SecretBytes(issuer.token(SUBJECT, *audiences, now=NOW).encode())
    return Given(tokens={"app": IssuedToken(token, NOW + 600)}, annotations={"app": annotations})


def federated(**fields: Any) -> GcpAuth:  # noqa: ANN401  # the spec's own fields
    return GcpAuth(workload_identity_federation=GcpWorkloadIdentityFederation(**fields))


def configured(config: object) -> Given:
    return Given(config_maps={"wif": {"config": json.dumps(config)}})


def external(source: object, **more: object) -> dict[str, object]:
    """A configuration as gcloud writes it."""
    return {
        "type": "external_account",
        "audience": AUDIENCE,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": "https://sts.googleapis.com/v1/token",
        "credential_source": source,
        **more,
    }


CONFIG = ConfigMapKeySelector(name="wif", key="config")
