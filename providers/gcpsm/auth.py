"""How a store logs in to Google: key, workload identity, federation or application default credentials."""

import re
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from syncret.providers.contract import OpenContext, Receiver
from syncret.providers.errors import Malformed
from syncret.providers.gcpsm.federation import federation
from syncret.providers.gcpsm.spec import GcpSecretRef, GkeWorkloadIdentity, GoogleAuth
from syncret.providers.kit.ambient.google import ApplicationDefault
from syncret.providers.kit.ambient.google_metadata import metadata_value
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.auth.refused import login_by
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.keys import ServiceAccountKey, key_login
from syncret.providers.kit.google.tokens import Access, Login, impersonate, login_of
from syncret.providers.kit.google.workload import ACCOUNT, Workload, exchange_workload_token
from syncret.providers.kit.http import Http

_WORKLOAD: Final = "auth.workloadIdentity"
_LOCATION: Final = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class LoginContext:
    """The context of a login; the base URL of `http` is Secret Manager."""

    http: Http
    context: OpenContext
    endpoints: Endpoints


@asynccontextmanager
async def open_login_context(context: OpenContext, location: str = "") -> AsyncGenerator[LoginContext, None]:
    """Open the context. Raises Malformed for an invalid location: it becomes part of a host name."""
    if location and not _LOCATION.fullmatch(location):
        raise Malformed("location is not a location of Google", hint="write it as us-east1")
    endpoints = Endpoints.of(ADDRESSES)
    async with Http(endpoints.secrets_of(location), now=context.now, network=context.network) as http:
        yield LoginContext(http, context, endpoints)


async def choose_login(
    auth: GoogleAuth[GkeWorkloadIdentity],
    project: str,
    receivers: Iterable[Receiver],
    login_context: LoginContext,
) -> Login:
    """The first method that the spec names; `project` is the cluster's default."""
    if auth.secret_ref is not None:
        return await _key_login(auth.secret_ref, login_context)
    if auth.workload_identity is not None:
        return partial(_workload_login, auth.workload_identity, project, login_context)
    if auth.workload_identity_federation is not None:
        return await federation(
            auth.workload_identity_federation,
            login_context.http,
            login_context.context,
            login_context.endpoints,
        )
    own = login_context.context.ambient(receivers)
    return ApplicationDefault(own, login_context.http, login_context.endpoints, login_context.context.now)


async def project_of(
    written: str | None, auth: GoogleAuth[GkeWorkloadIdentity], login_context: LoginContext
) -> str:
    """The project of a store: that of the spec, of the cluster, or of the machine."""
    cluster = auth.workload_identity.cluster_project_id if auth.workload_identity else ""
    if project := written or cluster:
        return project
    hint = "write projectID into the store"
    if auth.secret_ref is not None:
        raise Malformed("unable to find ProjectID in storeSpec", hint=hint)
    now = login_context.context.now
    return await metadata_value(login_context.endpoints, "project/project-id", hint=hint, now=now)


async def _key_login(ref: GcpSecretRef, login_context: LoginContext) -> Login:
    selector = ref.secret_access_key_secret_ref
    context = login_context.context
    document = await context.credentials.secret_key(selector.name, selector.key, selector.namespace)
    place = f'key "{selector.key}" of Secret "{selector.name}"'
    key = await context.compute(lambda work: ServiceAccountKey(document, place, work))
    return login_of(
        key_login(key, login_context.http, context.now),
        "auth.secretRef",
        "the key file in auth.secretRef.secretAccessKeySecretRef",
    )


async def _workload_login(
    identity: GkeWorkloadIdentity, project: str, login_context: LoginContext
) -> ExpiringValue[Access]:
    """A token of the Google service account of a ServiceAccount, or of the ServiceAccount itself."""
    workload = Workload(
        identity.service_account_ref,
        identity.cluster_project_id or project,
        identity.cluster_location,
        identity.cluster_name,
    )
    http, endpoints = login_context.http, login_context.endpoints
    with login_by(_WORKLOAD, f"{_WORKLOAD}.clusterProjectID, then clusterLocation and clusterName"):
        token, email = await exchange_workload_token(workload, login_context.context, http, endpoints)
    if not email:
        return token
    with login_by(_WORKLOAD, f"the annotation {ACCOUNT} of ServiceAccount {workload.account.name}"):
        return await impersonate(http, endpoints.impersonation(email), token.value)
