"""AWS's token service: keys of the daemon or of a ServiceAccount, and the request that says whose they are.

Managers that accept an identity of AWS forward that signed request to AWS, which answers with the identity:

keys = await own_keys(own, region, context, http)
request = caller_identity(keys, region, now=context.now())
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

from syncret.providers.contract import OpenContext, OwnIdentity
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient import aws
from syncret.providers.kit.auth import aws_requests
from syncret.providers.kit.auth.aws_requests import WebIdentity
from syncret.providers.kit.auth.refused import RefusedLogin, login_by
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http import Body, Http, form_body

_REFUSED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_SESSION: Final = "syncret"
_API: Final = "2011-06-15"
_NAMES: Final = "{https://sts.amazonaws.com/doc/2011-06-15/}"
_FORM: Final = "application/x-www-form-urlencoded; charset=utf-8"
_OWN: Final = "the daemon's own identity at AWS"
_ROLE: Final = "AWS_ROLE_ARN, and whom the trust policy of that role names"


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """Credentials of AWS."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Signed:
    """A signed request."""

    url: str
    headers: dict[str, str] = field(repr=False)
    body: str


async def own_region(own: OwnIdentity, context: OpenContext) -> str:
    """The region in the daemon's environment, otherwise that of its machine. Raises SyncError."""
    environment = own.environment
    named = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    return named or await aws.region_of_machine(own, context.now)


async def own_keys(own: OwnIdentity, region: str, context: OpenContext, http: Http) -> AwsKeys:
    """The daemon's own keys: in its environment, of its pod, or of its machine, in AWS's usual order.

    They are got anew for each login, so that none has to be renewed. Raises SyncError.

    Args:
        own: what the door grants.
        region: of the token service.
        context: has the clock.
        http: for the token service.
    """
    found = _keys_of_environment(own) or await pod_keys(own, region, context, http)
    return found or _given(await aws.keys_of_machine(own, context.now))


async def pod_keys(
    own: OwnIdentity, region: str, context: OpenContext, http: Http, *, session: str = ""
) -> AwsKeys | None:
    """The keys of the daemon's pod: the role of its ServiceAccount (IRSA), or what EKS or ECS gives it.

    `session` is the name of the role's session; empty: `AWS_ROLE_SESSION_NAME`.
    """
    identity = aws.web_identity_of_pod(own)
    if identity is not None:
        name = session or own.environment.get("AWS_ROLE_SESSION_NAME") or _SESSION
        with login_by(_OWN, _ROLE):
            return await web_identity_keys(http, region, identity, session=name)
    keys = await aws.keys_of_pod(own, context.now)
    return None if keys is None else _given(keys)


async def web_identity_keys(http: Http, region: str, identity: WebIdentity, *, session: str) -> AwsKeys:
    """The keys of a ServiceAccount's role. Raises SyncError."""
    wanted = {
        "Action": "AssumeRoleWithWebIdentity",
        "Version": _API,
        "RoleArn": identity.role,
        "RoleSessionName": session,
        "WebIdentityToken": identity.token.raw.decode(),
    }
    doing = "assuming the ServiceAccount's role in AWS"
    return await _request_keys(http, sts_url(region), {}, form_body(wanted), doing)


async def assumed_role_keys(
    http: Http, keys: AwsKeys, region: str, *, role: str, session: str, external_id: str, now: float
) -> AwsKeys:
    """The keys of a role that others assume; `external_id` may be empty. Raises SyncError."""
    wanted = {"RoleArn": role, "RoleSessionName": session}
    if external_id:
        wanted["ExternalId"] = external_id
    body = urlencode({"Action": "AssumeRole", "Version": _API, **wanted})
    request = _signed(keys, region, body, now=now, headers={}, url="")
    # The signed host is that of the URL, which the connection sends by itself.
    headers = {name: value for name, value in request.headers.items() if name != "Host"}
    doing = "assuming the role in AWS"
    return await _request_keys(http, request.url, headers, Body(body.encode(), _FORM), doing)


def caller_identity(
    keys: AwsKeys, region: str, *, now: float, headers: Mapping[str, str] | None = None, url: str = ""
) -> Signed:
    """A signed GetCallerIdentity: a server that forwards it to AWS learns whose keys signed it.

    Args:
        keys: that sign.
        region: that they sign for.
        now: the time, which AWS compares with its own.
        headers: others that are signed, too.
        url: of the token service that it is forwarded to; empty: `sts_url`.
    """
    body = urlencode({"Action": "GetCallerIdentity", "Version": _API})
    return _signed(keys, region, body, now=now, headers=headers or {}, url=url)


def sts_url(region: str, *, path: str = "AWS_REGION") -> str:
    """The URL of the token service: `AWS_STS_ENDPOINT`, or that of the region.

    Raises Malformed for an invalid region, as it becomes part of the host that receives the daemon's tokens;
    `path` is the field or variable that has the region.
    """
    if not aws_requests.REGION.fullmatch(region):
        raise Malformed(f"{path} is no region of AWS", hint="write its code, such as eu-west-1")
    return ADDRESSES.get("AWS_STS_ENDPOINT") or f"{aws_requests.endpoint('sts', region)}/"


def _signed(
    keys: AwsKeys, region: str, body: str, *, now: float, headers: Mapping[str, str], url: str
) -> Signed:
    usual = sts_url(region)
    proof = aws_requests.signed(
        url or usual,
        body,
        {"Content-Type": _FORM, **headers},
        access_key=keys.access_key,
        secret_key=keys.secret_key,
        session_token=keys.session_token,
        region=region,
        now=now,
    )
    return Signed(url or usual, proof, body)


def _keys_of_environment(own: OwnIdentity) -> AwsKeys | None:
    environment = own.environment
    key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    return AwsKeys(key, secret, environment.get("AWS_SESSION_TOKEN", "")) if key and secret else None


def _given(keys: aws.Keys) -> AwsKeys:
    return AwsKeys(keys.access_key_id, keys.secret_access_key, keys.token)


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
