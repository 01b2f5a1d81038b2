"""Login with AWS credentials: Vault forwards our signed request to AWS STS, which returns our identity.

The credentials come from a ServiceAccount's role, a Secret, or our own pod, anew for each login, so that none
has to be renewed.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

import msgspec

from syncret.config.fields import Json, SecretKeySelector
from syncret.providers.contract import OpenContext, OwnIdentity
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient.aws import keys_of_pod, web_identity_of_pod
from syncret.providers.kit.auth import aws_requests
from syncret.providers.kit.auth.aws_requests import WebIdentity, web_identity
from syncret.providers.kit.auth.refused import RefusedLogin, login_by
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http import Body, Http, form_body
from syncret.providers.kit.references import read_trimmed
from syncret.providers.kit.vault import requests
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultIam, VaultIamSecretRef
from syncret.providers.vault.receivers import DEFAULT_REGION, receivers
from syncret.providers.vault.spec import VaultSpec
from syncret.providers.work import Work

_METHOD: Final = "auth.iam"
_REFUSED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_SESSION: Final = "external-secrets-provider-vault"
_API: Final = "2011-06-15"
_NAMES: Final = "{https://sts.amazonaws.com/doc/2011-06-15/}"
_FORM: Final = "application/x-www-form-urlencoded; charset=utf-8"

IDENTITY: Final = urlencode({"Action": "GetCallerIdentity", "Version": _API})


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """Credentials of AWS."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


class Signed(msgspec.Struct, frozen=True):
    """A signed request."""

    url: str
    headers: dict[str, str]
    body: str


async def credentials_of(
    method: VaultIam, region: str, own: OwnIdentity | None, context: OpenContext
) -> AwsKeys:
    """The keys of the first configured source, after assuming the role of the spec.

    `own` is for a method that names no source.
    """
    async with Http(now=context.now, network=context.network) as http:
        found = await _first_configured(method, region, own, context, http)
        if not method.role:
            return found
        wanted = {"RoleArn": method.role, "RoleSessionName": _SESSION}
        if method.external_id:
            wanted["ExternalId"] = method.external_id
        body = urlencode({"Action": "AssumeRole", "Version": _API, **wanted})
        request = signed(found, region, body, now=context.now())
        # The signed host is that of the URL, which the connection sends by itself.
        headers = {name: value for name, value in request.headers.items() if name != "Host"}
        doing = "assuming the role in AWS"
        with login_by(_METHOD, f"{_METHOD}.role, and the credentials that assume it"):
            return await _request_keys(http, request.url, headers, Body(body.encode(), _FORM), doing)


def signed(
    keys: AwsKeys, region: str, body: str, *, now: float, headers: Mapping[str, str] | None = None
) -> Signed:
    """A signed request to the region's STS."""
    url = sts_url(region)
    proof = aws_requests.signed(
        url,
        body,
        {"Content-Type": _FORM, **(headers or {})},
        access_key=keys.access_key,
        secret_key=keys.secret_key,
        session_token=keys.session_token,
        region=region,
        now=now,
    )
    return Signed(url, proof, body)


def sts_url(region: str) -> str:
    """The URL of STS: `AWS_STS_ENDPOINT`, or that of the region.

    Raises Malformed for an invalid region, as it becomes part of the host that receives the daemon's tokens.
    """
    if not aws_requests.REGION.fullmatch(region):
        raise Malformed("auth.iam.region is no region of AWS", hint="write its code, such as eu-west-1")
    return ADDRESSES.get("AWS_STS_ENDPOINT") or f"{aws_requests.endpoint('sts', region)}/"


async def _first_configured(
    method: VaultIam, region: str, own: OwnIdentity | None, context: OpenContext, http: Http
) -> AwsKeys:
    if method.jwt is not None and method.jwt.service_account_ref is not None:
        identity = await web_identity(method.jwt.service_account_ref, context)
        return await _by_web_identity(http, region, identity)
    if method.secret_ref is not None:
        return await _from_secret(method.secret_ref, context)
    pod = None if own is None else web_identity_of_pod(own)
    if pod is not None:
        return await _by_web_identity(http, region, pod)
    keys = None if own is None else await keys_of_pod(own, context.now)
    if keys is not None:
        return AwsKeys(keys.access_key_id, keys.secret_access_key, keys.token)
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


async def _by_web_identity(http: Http, region: str, identity: WebIdentity) -> AwsKeys:
    wanted = {
        "Action": "AssumeRoleWithWebIdentity",
        "Version": _API,
        "RoleArn": identity.role,
        "RoleSessionName": _SESSION,
        "WebIdentityToken": identity.token.raw.decode(),
    }
    doing = "assuming the ServiceAccount's role in AWS"
    with login_by(_METHOD, f"{_METHOD}.jwt.serviceAccountRef, and the trust policy of its role"):
        return await _request_keys(http, sts_url(region), {}, form_body(wanted), doing)


async def _request_keys(http: Http, url: str, headers: Mapping[str, str], body: Body, doing: str) -> AwsKeys:
    answer = await http.request("POST", url, doing=doing, headers=headers, body=body, accept=_REFUSED)
    if answer.status in _REFUSED:
        raise RefusedLogin(f"{doing}: AWS refuses it (HTTP {answer.status}{_error_code(answer.body)})")
    try:
        document = ET.fromstring(answer.body)  # noqa: S314  # bounded in size, and from a server that issues our keys
        given = document.find(f".//{_NAMES}Credentials")
    except ET.ParseError:
        given = None
    if given is None:
        raise Malformed(
            f"{doing}: the answer is not that of AWS's token service", hint="see AWS_STS_ENDPOINT"
        )
    key, secret, token = (
        given.findtext(f"{_NAMES}{name}", "") for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")
    )
    return AwsKeys(key, secret, token)


def _error_code(body: bytes) -> str:
    """The code of an error of AWS, such as AccessDenied; never its text."""
    found = re.search(rb"<Code>([A-Z][A-Za-z]{1,60})</Code>", body)
    return f", {found[1].decode()}" if found else ""


_SERVER_ID: Final = "X-Vault-AWS-IAM-Server-ID"


async def run(spec: VaultSpec, method: VaultIam, context: OpenContext, adapter: Adapter) -> Reply:
    region = method.region or DEFAULT_REGION
    wanted = [*receivers(spec)]
    own = context.ambient(wanted) if wanted else None
    credentials = await credentials_of(method, region, own, context)
    server_id = method.vault_aws_iam_server_id if own is None else own.server_id
    extra = {_SERVER_ID: server_id} if server_id else {}
    request = signed(credentials, region, IDENTITY, now=context.now(), headers=extra)
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
