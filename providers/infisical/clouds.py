"""The logins with an identity at a cloud: what proves it to Infisical, which has the cloud check it."""

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

import msgspec

from syncret.config.fields import Json, SecretKeySelector
from syncret.providers.contract import OpenContext, Receiver
from syncret.providers.errors import Malformed
from syncret.providers.infisical.receivers import receivers
from syncret.providers.infisical.spec import (
    AwsAuth,
    AzureAuth,
    GcpIamAuth,
    GcpIdTokenAuth,
    InfisicalSpec,
    OciAuth,
)
from syncret.providers.kit.ambient.azure import log_in_with_managed_identity, pod_login
from syncret.providers.kit.ambient.google_metadata import identity_token
from syncret.providers.kit.auth import aws_requests, aws_sts, jwt
from syncret.providers.kit.auth.oracle_requests import Signer, signature
from syncret.providers.kit.azure.clouds import CLOUDS
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.keys import ServiceAccountKey
from syncret.providers.kit.http import Http
from syncret.providers.kit.references import read_text, read_trimmed

_AWS_KEYS: Final = "requests signed with the AWS credentials of the daemon"
_AZURE_TOKEN: Final = "the federated token of the daemon's pod"
_RESOURCE: Final = "https://management.azure.com/"
_IDENTITIES: Final = frozenset({"client_id", "msi_res_id", "mi_res_id"})
"""Parameters by which Azure's metadata server finds an identity."""
_NO_AZURE: Final = (
    "give the daemon's machine (in AKS the node or pod) an identity at Azure that may have tokens for "
    "azureAuthCredentials.resource, or write another login into auth"
)
_NO_GOOGLE: Final = (
    "give the daemon's machine (in GKE its pod) a service account, or write gcpIamAuthCredentials into auth"
)
_SECONDS: Final = 600
"""How long a login that a service account's key signs is good for."""
_ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
"""An identity's ID; as an audience it is no address and no client of Google, which other servers accept."""
_OCI_REGION: Final = re.compile(r"[a-z]{2}-[a-z]+-[1-9]")
"""As Infisical's server takes it, which builds Oracle's address of it."""

CloudAuth: TypeAlias = AwsAuth | AzureAuth | GcpIamAuth | GcpIdTokenAuth | OciAuth
"""How to log in with an identity at a cloud."""


async def proof(spec: InfisicalSpec, method: CloudAuth, context: OpenContext) -> Mapping[str, Json]:
    """What a login sends. Raises SyncError."""
    match method:
        case AwsAuth():
            return await _aws(spec, method, context)
        case AzureAuth():
            return await _azure(spec, method, context)
        case GcpIdTokenAuth():
            return await _google(spec, method, context)
        case GcpIamAuth():
            return await _google_key(method, context)
        case OciAuth():
            return await _oracle(method, context)


async def _aws(spec: InfisicalSpec, method: AwsAuth, context: OpenContext) -> Mapping[str, Json]:
    """A signed GetCallerIdentity. The server sends it to the region's usual address, whatever the URL is."""
    wanted = [*receivers(spec)]
    own = context.ambient(wanted)
    identity = await read_trimmed(context, method.identity_id, "auth.awsAuthCredentials.identityId")
    region = await aws_sts.own_region(own, context)
    if aws_requests.REGION.fullmatch(region):  # another is refused before anything is sent
        own = context.ambient([*wanted, Receiver("aws", aws_requests.endpoint("sts", region), _AWS_KEYS)])
    async with Http(now=context.now, network=context.network) as http:
        keys = await aws_sts.own_keys(own, region, context, http)
    url = f"https://sts.{region}.amazonaws.com/"
    request = aws_sts.caller_identity(keys, region, now=context.now(), url=url)
    return {
        "identityId": identity,
        "iamHttpRequestMethod": "POST",
        "iamRequestBody": _base64(request.body.encode()),
        "iamRequestHeaders": _base64(msgspec.json.encode(request.headers)),
    }


async def _azure(spec: InfisicalSpec, method: AzureAuth, context: OpenContext) -> Mapping[str, Json]:
    """An access token: for the identity that the resource names, the pod's, or the machine's only one."""
    wanted, path = [*receivers(spec)], "auth.azureAuthCredentials"
    own = context.ambient(wanted)
    identity = await read_trimmed(context, method.identity_id, f"{path}.identityId")
    resource, client = _RESOURCE, ""
    if method.resource is not None:
        resource, client = _audience(await read_trimmed(context, method.resource, f"{path}.resource"))
    if own.environment.get("AZURE_FEDERATED_TOKEN_FILE") and not client:
        public = CLOUDS["PublicCloud"]
        own = context.ambient([*wanted, Receiver("azurekv", public.authority, _AZURE_TOKEN)])
        authority = public.with_overrides(ADDRESSES).authority
        async with Http(now=context.now, network=context.network) as http:
            token = await pod_login(own, authority, resource, http, context.now)()
    else:
        token = await log_in_with_managed_identity(own, resource, client, context.now, hint=_NO_AZURE)
    return {"identityId": identity, "jwt": token.value.raw.decode("ascii", "replace")}


def _audience(text: str) -> tuple[str, str]:
    """The audience, and the identity that may follow it: `https://management.azure.com/&client_id=...`.

    The operator puts the text into the query of Azure's metadata server, so that is how one is chosen there.
    """
    resource, _, rest = text.partition("&")
    chosen = dict(parse_qsl(rest, keep_blank_values=True))
    if len(chosen) > 1 or not chosen.keys() <= _IDENTITIES:
        raise Malformed(
            "auth.azureAuthCredentials.resource has parameters that are not supported",
            hint="write the audience alone, or with the identity: https://management.azure.com/&client_id=ID",
        )
    return resource or _RESOURCE, next(iter(chosen.values()), "")


async def _google(spec: InfisicalSpec, method: GcpIdTokenAuth, context: OpenContext) -> Mapping[str, Json]:
    """An identity token of the machine, for this identity of Infisical alone."""
    own = context.ambient(receivers(spec))
    identity = await _audience_id(method.identity_id, "auth.gcpIdTokenAuthCredentials.identityId", context)
    token = await identity_token(own, Endpoints.of(ADDRESSES), identity, hint=_NO_GOOGLE, now=context.now)
    return {"identityId": identity, "jwt": token}


async def _google_key(method: GcpIamAuth, context: OpenContext) -> Mapping[str, Json]:
    """A JWT that the key in the file signs, for this identity of Infisical alone."""
    path = "auth.gcpIamAuthCredentials"
    identity = await _audience_id(method.identity_id, f"{path}.identityId", context)
    selector = method.service_account_key_file_path
    file = await read_trimmed(context, selector, f"{path}.serviceAccountKeyFilePath")
    document = context.read_file(file, what="service account key")
    place = f"{path}.serviceAccountKeyFilePath: the file"
    key = await context.compute(lambda work: ServiceAccountKey(document, place, work))
    now = int(context.now())
    token = key.signed({"sub": key.email, "aud": identity, "iat": now, "exp": now + _SECONDS})
    return {"identityId": identity, "jwt": token}


async def _audience_id(selector: SecretKeySelector, path: str, context: OpenContext) -> str:
    """An identity's ID that becomes the audience of a token. Raises Malformed for what is none."""
    identity = await read_trimmed(context, selector, path)
    if not _ID.fullmatch(identity):
        raise Malformed(
            f"{path} is no ID of an identity in Infisical", hint="copy it from the identity's details: a UUID"
        )
    return identity


async def _oracle(method: OciAuth, context: OpenContext) -> Mapping[str, Json]:
    """A signed request for the user's own description. The server sends it to Oracle."""
    path = "auth.ociAuthCredentials"

    async def read(selector: SecretKeySelector, name: str) -> str:
        return await read_trimmed(context, selector, f"{path}.{name}")

    identity = await read(method.identity_id, "identityId")
    pem = (await read(method.private_key, "privateKey")).encode()
    password = ""
    if method.private_key_passphrase is not None:
        password = await read_text(context, method.private_key_passphrase, f"{path}.privateKeyPassphrase")
    fingerprint = await read(method.fingerprint, "fingerprint")
    user, tenancy = await read(method.user_id, "userId"), await read(method.tenancy_id, "tenancyId")
    region = await read(method.region, "region")
    if not _OCI_REGION.fullmatch(region):
        raise Malformed(
            f"{path}.region is no region that Infisical takes", hint="write it as in eu-frankfurt-1"
        )
    key = await context.compute(lambda work: jwt.private_key(pem, work, password.encode()))
    if key is None:
        raise Malformed(
            f"{path}.privateKey holds no RSA key that can be read",
            hint=f"store the PEM file of the user's API key, and its password in {path}.privateKeyPassphrase",
        )
    host, target = f"identity.{region}.oraclecloud.com", f"/20160918/users/{user}"
    signer = Signer(f"{tenancy}/{user}/{fingerprint}", key)
    signed = signature(signer, "GET", target, host, b"", context.now)
    headers: Json = {"host": host, **{name.lower(): value for name, value in signed.items()}}
    return {"identityId": identity, "userOcid": user, "headers": headers}


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
