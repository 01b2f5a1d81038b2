"""GKE's workload identity: a ServiceAccount's token is exchanged for Google's, which signs the login."""

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit import gojson
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.tokens import impersonated
from syncret.providers.kit.google.workload import ACCOUNT, Workload, exchanged_workload
from syncret.providers.kit.http import Http, json_body
from syncret.providers.vault.auth_spec import VaultGcpWorkloadIdentity


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
    lease, email = await exchanged_workload(workload, context, http, endpoints)
    if not email:
        raise Malformed(
            f"ServiceAccount {account.name} stands for no service account of Google",
            hint=f"annotate it: {ACCOUNT}",
        )
    access = (await impersonated(http, endpoints.impersonation(email), lease.value)).value
    answer = await http.request(
        "POST",
        endpoints.signing(email),
        doing="having Google sign the login",
        headers=access.headers,
        body=json_body({"payload": gojson.marshal({**claims, "sub": email})}),
    )
    return answer.decode(_SignedJwt).signed_jwt
