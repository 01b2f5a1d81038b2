"""GKE's workload identity, and Google's metadata server.

For workload identity, the token of a ServiceAccount is exchanged for one of Google.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Final, NamedTuple

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.google.endpoints import CLOUD_PLATFORM, Endpoints
from syncret.providers.kit.google.tokens import (
    ACCESS_TOKEN,
    EXCHANGE,
    TOKEN_TYPE_JWT,
    Access,
    Login,
    request_gke_token,
    token_of,
)
from syncret.providers.kit.http import Answer, Http

_TIMEOUT: Final = 5.0
"""Seconds; outside Google's cloud often nothing answers at all."""

_FLAVOR: Final = {"Metadata-Flavor": "Google"}
_ACCOUNT: Final = "instance/service-accounts/default"


def metadata_server_login(http: Http, endpoints: Endpoints, now: Callable[[], float]) -> Login:
    """A Login as the machine's service account, or in GKE as that of the pod."""
    return partial(_login, http, endpoints, now)


async def metadata_value(http: Http, endpoints: Endpoints, path: str, *, hint: str) -> str:
    """One value, such as `project/project-id`. Raises SyncError with this hint."""
    answer = await _request(
        http, endpoints, path, {}, doing=f"asking the metadata server for {path}", hint=hint
    )
    return answer.body.decode("utf-8", "replace").strip()


async def identity_token(http: Http, endpoints: Endpoints, audience: str, *, hint: str) -> str:
    """An identity token of the machine's account for this audience."""
    params = {"audience": audience, "format": "full"}
    doing = "asking the metadata server who this machine is"
    answer = await _request(http, endpoints, f"{_ACCOUNT}/identity", params, doing=doing, hint=hint)
    return answer.body.decode("ascii", "replace").strip()


async def _login(http: Http, endpoints: Endpoints, now: Callable[[], float]) -> ExpiringValue[Access]:
    answer = await _request(
        http,
        endpoints,
        f"{_ACCOUNT}/token",
        {"scopes": CLOUD_PLATFORM},
        doing="logging in as the machine's service account",
        hint="give the machine (or in GKE the pod) a service account, or write auth into the store",
    )
    return token_of(answer, now())


async def _request(
    http: Http, endpoints: Endpoints, path: str, params: dict[str, str], *, doing: str, hint: str
) -> Answer:
    url = f"{endpoints.metadata}/computeMetadata/v1/{path}"
    try:
        async with asyncio.timeout(_TIMEOUT):
            answer = await http.request(
                "GET", url, doing=doing, params=params, headers=_FLAVOR, accept=(HTTPStatus.NOT_FOUND,)
            )
    except TimeoutError:
        raise Unavailable(f"{doing}: nobody answers", hint=hint) from None
    except Unavailable as error:
        raise Unavailable(error.message, hint=hint) from None
    if answer.status == HTTPStatus.NOT_FOUND or answer.headers.get("metadata-flavor") != "Google":
        raise Malformed(f"{doing}: it has no answer", hint=hint)
    return answer


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
        return await metadata_value(http, endpoints, path, hint=_NO_CLUSTER)

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
