"""GKE's workload identity: exchanges the token of a ServiceAccount for one that Google accepts."""

from typing import Final, NamedTuple

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import OpenContext
from syncret.providers.kit.credentials import Lease
from syncret.providers.kit.google import machine
from syncret.providers.kit.google.endpoints import CLOUD_PLATFORM, Endpoints
from syncret.providers.kit.google.tokens import ACCESS_TOKEN, EXCHANGE, TOKEN_TYPE_JWT, Access, bound
from syncret.providers.kit.http import Http

ACCOUNT: Final = "iam.gke.io/gcp-service-account"
"""The annotation of a ServiceAccount that names the one of Google it stands for."""

SUBJECT_SECONDS: Final = 900
"""How long the ServiceAccount's token is good. It is exchanged at once."""

_NO_CLUSTER: Final = "write clusterName, clusterLocation and clusterProjectID into workloadIdentity"


class Workload(NamedTuple):
    """A ServiceAccount and its cluster. Of the cluster, what is empty is asked of the metadata server."""

    account: ServiceAccountSelector
    project: str = ""
    location: str = ""
    cluster: str = ""


class Bound(NamedTuple):
    """Google's token for the ServiceAccount itself, and the service account that it may stand for."""

    lease: Lease[Access]
    email: str


async def exchanged_workload(
    workload: Workload, context: OpenContext, http: Http, endpoints: Endpoints
) -> Bound:
    """Raises SyncError."""
    account, credentials = workload.account, context.credentials
    annotations = await credentials.account_annotations(account.name, account.namespace)

    async def known(path: str) -> str:
        return await machine.known(http, endpoints, path, hint=_NO_CLUSTER)

    project = workload.project or await known("project/project-id")
    location = workload.location or await known("instance/attributes/cluster-location")
    name = workload.cluster or await known("instance/attributes/cluster-name")
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
    lease = await bound(
        http,
        f"{endpoints.secure_token}/v1/identitybindingtoken",
        fields,
        doing=f"exchanging the token of ServiceAccount {account.name} at Google",
        now=context.now(),
    )
    return Bound(lease, annotations.get(ACCOUNT, ""))
