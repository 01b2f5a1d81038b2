"""Login with AWS credentials: Vault forwards our signed request to AWS STS, which returns our identity.

The credentials come from a ServiceAccount's role, a Secret, or our own pod, anew for each login, so that none
has to be renewed.
"""

from base64 import b64encode
from typing import Final

from syncret.config.fields import Json, SecretKeySelector
from syncret.providers.contract import OpenContext, OwnIdentity
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth import aws_sts
from syncret.providers.kit.auth.aws_requests import web_identity
from syncret.providers.kit.auth.aws_sts import AwsKeys, Signed
from syncret.providers.kit.auth.refused import login_by
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http import Http
from syncret.providers.kit.references import read_trimmed
from syncret.providers.kit.vault import requests
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultIam, VaultIamSecretRef
from syncret.providers.vault.receivers import DEFAULT_REGION, receivers
from syncret.providers.vault.spec import VaultSpec
from syncret.providers.work import Work

_METHOD: Final = "auth.iam"
_SESSION: Final = "external-secrets-provider-vault"


async def credentials_of(
    method: VaultIam, region: str, own: OwnIdentity | None, context: OpenContext
) -> AwsKeys:
    """The keys of the first configured source, after assuming the role of the spec.

    `own` is for a method that names no source.
    """
    aws_sts.sts_url(region, path=f"{_METHOD}.region")
    async with Http(now=context.now, network=context.network) as http:
        found = await _first_configured(method, region, own, context, http)
        if not method.role:
            return found
        with login_by(_METHOD, f"{_METHOD}.role, and the credentials that assume it"):
            return await aws_sts.assumed_role_keys(
                http,
                found,
                region,
                role=method.role,
                session=_SESSION,
                external_id=method.external_id or "",
                now=context.now(),
            )


async def _first_configured(
    method: VaultIam, region: str, own: OwnIdentity | None, context: OpenContext, http: Http
) -> AwsKeys:
    if method.jwt is not None and method.jwt.service_account_ref is not None:
        identity = await web_identity(method.jwt.service_account_ref, context)
        with login_by(_METHOD, f"{_METHOD}.jwt.serviceAccountRef, and the trust policy of its role"):
            return await aws_sts.web_identity_keys(http, region, identity, session=_SESSION)
    if method.secret_ref is not None:
        return await _from_secret(method.secret_ref, context)
    keys = None if own is None else await aws_sts.pod_keys(own, region, context, http, session=_SESSION)
    if keys is not None:
        return keys
    raise Malformed(
        "no AWS authentication method found: expected either IRSA or Pod Identity",
        hint="write auth.iam.secretRef or auth.iam.jwt, or give the daemon's ServiceAccount a role in AWS",
    )


async def _from_secret(ref: VaultIamSecretRef, context: OpenContext) -> AwsKeys:
    async def one(selector: SecretKeySelector | None, name: str) -> str:
        return await read_trimmed(context, selector, f"auth.iam.secretRef.{name}")

    return AwsKeys(
        await one(ref.access_key_id, "accessKeyIDSecretRef"),
        await one(ref.secret_access_key, "secretAccessKeySecretRef"),
        await one(ref.session_token, "sessionTokenSecretRef") if ref.session_token is not None else "",
    )


_SERVER_ID: Final = "X-Vault-AWS-IAM-Server-ID"


async def run(spec: VaultSpec, method: VaultIam, context: OpenContext, adapter: Adapter) -> Reply:
    region = method.region or DEFAULT_REGION
    wanted = [*receivers(spec)]
    own = context.ambient(wanted) if wanted else None
    credentials = await credentials_of(method, region, own, context)
    server_id = method.vault_aws_iam_server_id if own is None else own.server_id
    extra = {_SERVER_ID: server_id} if server_id else {}
    request = aws_sts.caller_identity(credentials, region, now=context.now(), headers=extra)
    return await requests.aws_iam(adapter, method.path or "aws", method.vault_role, _wrapped(request))


def _wrapped(signed: Signed) -> dict[str, str]:
    headers: Json = {name: [value] for name, value in signed.headers.items()}
    return {
        "iam_http_request_method": "POST",
        "iam_request_url": _base64(signed.url),
        "iam_request_headers": _base64(gojson.marshal(headers, Work())),
        "iam_request_body": _base64(signed.body),
    }


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()
