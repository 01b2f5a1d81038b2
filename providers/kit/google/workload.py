"""GKE's workload identity: the token of a ServiceAccount is exchanged for one of Google."""

from typing import Final, NamedTuple

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import OpenContext
from syncret.providers.kit.ambient.google_metadata import metadata_value
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.google.endpoints import CLOUD_PLATFORM, Endpoints
from syncret.providers.kit.google.tokens import (
    ACCESS_TOKEN,
    EXCHANGE,
    TOKEN_TYPE_JWT,
    Access,
    request_gke_token,
)
from syncret.providers.kit.http import Http

ACCOUNT: Final = "iam.gke.io/gcp-service-account"
"""The annotation of a ServiceAccount with its Google service account."""

SUBJECT_SECONDS: Final = 900
"""The lifetime of the ServiceAccount's token, which is exchanged at once."""

_NO_CLUSTER: Final = "write clusterName, clusterLocation and clusterProjectID into workloadIdentity"


class Workload(NamedTuple):
    """A ServiceAccount and its cluster; empty fields of the cluster come from the metadata server."""

    account: ServiceAccountSelector
    project: str = ""
    location: str = ""
    cluster: str = ""


class Bound(NamedTuple):
    """Google's token for the ServiceAccount, and the service account that it may impersonate, if any."""

    token: ExpiringValue[Access]
    email: str


async def exchange_workload_token(
    workload: Workload, context: OpenContext, http: Http, endpoints: Endpoints
) -> Bound:
    """Exchange a token of the ServiceAccount. Raises SyncError."""
    account, credentials = workload.account, context.credentials
    annotations = await credentials.account_annotations(account.name, account.namespace)

    async def metadata(path: str) -> str:
        return await metadata_value(endpoints, path, hint=_NO_CLUSTER, now=context.now)

    project = workload.project or await metadata("project/project-id")
    location = workload.location or await metadata("instance/attributes/cluster-location")
    name = workload.cluster or await metadata("instance/attributes/cluster-name")
    pool = f"{project}.svc.id.goog"
    cluster = f"https://container.googleapis.com/v1/projects/{project}/locations/{location}/clusters/{name}"
    issued = await credentials.account_token(
        account.name,
        audiences=(pool, *account.audiences),
        seconds=SUBJECT_SECONDS,
        namespace=account.namespace,
    )
    fields = {
        "grant_type": EXCHANGE,
        "subject_token_type": TOKEN_TYPE_JWT,
        "requested_token_type": ACCESS_TOKEN,
        "subject_token": issued.token.raw.decode("ascii", "replace"),
        "audience": f"identitynamespace:{pool}:{cluster}",
        "scope": CLOUD_PLATFORM,
    }
    lease = await request_gke_token(
        http,
        f"{endpoints.secure_token}/v1/identitybindingtoken",
        fields,
        doing=f"exchanging the token of ServiceAccount {account.name} at Google",
        now=context.now(),
    )
    return Bound(lease, annotations.get(ACCOUNT, ""))
