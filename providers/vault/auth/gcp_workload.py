"""GKE's workload identity: a ServiceAccount's token is exchanged for Google's, which signs the login."""

import os
from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit import gojson
from syncret.providers.kit.http import Http, json_body
from syncret.providers.vault.auth_spec import VaultGcpWorkloadIdentity

_ACCOUNT: Final = "iam.gke.io/gcp-service-account"
_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_STS: Final = "https://sts.googleapis.com"
_IAM: Final = "https://iamcredentials.googleapis.com"


class _Federated(msgspec.Struct):
    access_token: str


class _Access(msgspec.Struct, rename="camel"):
    access_token: str


class _SignedJwt(msgspec.Struct, rename="camel"):
    signed_jwt: str


async def signed(
    identity: VaultGcpWorkloadIdentity,
    project: str,
    claims: dict[str, Json],
    context: OpenContext,
    http: Http,
) -> str:
    """A JWT with these claims, of the account that the ServiceAccount is annotated with."""
    reference = identity.service_account_ref
    annotations = await context.credentials.account_annotations(reference.name, reference.namespace)
    email = annotations.get(_ACCOUNT)
    if not email:
        raise Malformed(
            f"ServiceAccount {reference.name} stands for no service account of Google",
            hint=f"annotate it: {_ACCOUNT}",
        )
    account = f"{_IAM}/v1/projects/-/serviceAccounts/{email}"
    federated = await _federated(identity, project, context, http)
    access = await http.request(
        "POST",
        f"{account}:generateAccessToken",
        doing="getting an access token of the service account of Google",
        headers={"Authorization": f"Bearer {federated}"},
        body=json_body({"scope": [_SCOPE]}),
    )
    payload = gojson.marshal({**claims, "sub": email})
    answer = await http.request(
        "POST",
        f"{account}:signJwt",
        doing="having Google sign the login",
        headers={"Authorization": f"Bearer {access.decode(_Access).access_token}"},
        body=json_body({"payload": payload}),
    )
    return answer.decode(_SignedJwt).signed_jwt


async def _federated(
    identity: VaultGcpWorkloadIdentity, project: str, context: OpenContext, http: Http
) -> str:
    project = identity.cluster_project_id or project or await _known(http, "project/project-id")
    location = identity.cluster_location or await _known(http, "instance/attributes/cluster-location")
    name = identity.cluster_name or await _known(http, "instance/attributes/cluster-name")
    pool = f"{project}.svc.id.goog"
    cluster = f"https://container.googleapis.com/v1/projects/{project}/locations/{location}/clusters/{name}"
    reference = identity.service_account_ref
    issued = await context.credentials.account_token(
        reference.name, audiences=(*reference.audiences, pool), namespace=reference.namespace
    )
    answer = await http.request(
        "POST",
        f"{_STS}/v1/token",
        doing="exchanging the ServiceAccount's token at Google",
        body=json_body(
            {
                "audience": f"identitynamespace:{pool}:{cluster}",
                "grantType": "urn:ietf:params:oauth:grant-type:token-exchange",
                "requestedTokenType": "urn:ietf:params:oauth:token-type:access_token",
                "scope": _SCOPE,
                "subjectToken": issued.token.raw.decode(),
                "subjectTokenType": "urn:ietf:params:oauth:token-type:jwt",
            }
        ),
    )
    return answer.decode(_Federated).access_token


async def _known(http: Http, what: str) -> str:
    """What the metadata server says of the cluster that this machine belongs to."""
    answer = await http.request(
        "GET",
        f"http://{os.environ.get('GCE_METADATA_HOST', 'metadata.google.internal')}/computeMetadata/v1/{what}",
        doing="asking Google's metadata server about the cluster",
        headers={"Metadata-Flavor": "Google"},
    )
    return answer.body.decode("utf-8", "replace").strip()
