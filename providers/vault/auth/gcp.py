"""Login as a Google service account, with a JWT that its key, Google's API or the metadata server signs."""

from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient.google_metadata import identity_token
from syncret.providers.kit.auth.refused import login_by
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.keys import ServiceAccountKey
from syncret.providers.kit.google.tokens import impersonate
from syncret.providers.kit.google.workload import ACCOUNT, Workload, exchange_workload_token
from syncret.providers.kit.http import Http, json_body
from syncret.providers.kit.references import read_text
from syncret.providers.kit.vault import requests
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.values import SecretBytes
from syncret.providers.vault.auth_spec import VaultGcp, VaultGcpWorkloadIdentity
from syncret.providers.vault.receivers import receivers
from syncret.providers.vault.spec import VaultSpec
from syncret.providers.work import Work

_WORKLOAD: Final = "auth.gcp.workloadIdentity"


class _SignedJwt(msgspec.Struct, rename="camel"):
    signed_jwt: str


async def signed(
    identity: VaultGcpWorkloadIdentity,
    project: str,
    claims: dict[str, Json],
    context: OpenContext,
    http: Http,
    endpoints: Endpoints,
) -> str:
    """A JWT with these claims, of the account that the ServiceAccount is annotated with."""
    account = identity.service_account_ref
    workload = Workload(
        account, identity.cluster_project_id or project, identity.cluster_location, identity.cluster_name
    )
    with login_by(_WORKLOAD, f"{_WORKLOAD}.clusterProjectID, then clusterLocation and clusterName"):
        token, email = await exchange_workload_token(workload, context, http, endpoints)
    if not email:
        raise Malformed(
            f"ServiceAccount {account.name} stands for no service account of Google",
            hint=f"annotate it: {ACCOUNT}",
        )
    with login_by(_WORKLOAD, f"the annotation {ACCOUNT} of ServiceAccount {account.name}"):
        access = (await impersonate(http, endpoints.impersonation(email), token.value)).value
    answer = await http.request(
        "POST",
        endpoints.signing(email),
        doing="having Google sign the login",
        headers=access.headers,
        body=json_body({"payload": gojson.marshal({**claims, "sub": email}, Work())}),
    )
    return answer.decode(_SignedJwt).signed_jwt


_SECONDS: Final = 600
"""Vault takes at most fifteen minutes."""

_PATH: Final = "auth.gcp.secretRef.secretAccessKeySecretRef"


async def run(spec: VaultSpec, method: VaultGcp, context: OpenContext, adapter: Adapter) -> Reply:
    token = await _token(spec, method, context)
    return await requests.gcp(adapter, method.path, method.role, token)


async def _token(spec: VaultSpec, method: VaultGcp, context: OpenContext) -> str:
    audience = f"vault/{method.role}"
    if method.secret_ref is not None:
        document = await read_text(context, method.secret_ref.secret_access_key_secret_ref, _PATH)
        content, place = SecretBytes(document.encode()), f"{_PATH}: the Secret"
        key = await context.compute(lambda work: ServiceAccountKey(content, place, work))
        return key.signed(_claims(key.email, audience, context.now()))
    endpoints = Endpoints.of(ADDRESSES)
    if method.workload_identity is not None:
        claims = _claims("", audience, context.now())
        async with Http(now=context.now, network=context.network) as http:
            return await signed(method.workload_identity, method.project_id, claims, context, http, endpoints)
    own = context.ambient(receivers(spec))
    hint = "give the machine a service account, or write auth.gcp.secretRef or workloadIdentity"
    return await identity_token(own, endpoints, f"http://{audience}", hint=hint, now=context.now)


def _claims(subject: str, audience: str, now: float) -> dict[str, Json]:
    return {"sub": subject, "aud": audience, "iat": int(now), "exp": int(now) + _SECONDS}
