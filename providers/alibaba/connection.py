"""Opens a store: an access key, or the role of a ServiceAccount (RRSA)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlencode

import msgspec

from syncret.providers.alibaba.client import AlibabaClient, NotFound, NotPermitted, Refused
from syncret.providers.alibaba.signing import signer, timestamp
from syncret.providers.alibaba.spec import AlibabaRrsa, AlibabaSecretRef, AlibabaSpec
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http import Answer, Http, Unauthenticated, form_body
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import Identity
from syncret.providers.kit.rest.logins import log_in_with, moment
from syncret.providers.kit.rest.signed import AccessKey, SignedRequests

_SECONDS: Final = 3600
_KEY: Final = "check the access key, and whether the clock is right"


class _Failure(msgspec.Struct):
    Code: str


def _refused(answer: Answer, endpoint: Endpoint) -> SyncError | None:
    """The error for a code. https://www.alibabacloud.com/help/en/kms/developer-reference/error-codes."""
    failure = answer.decode_if(_Failure)
    if failure is None:
        return None
    code = failure.Code
    if "Throttling" in code:
        return Throttled(f"{answer.doing}: Alibaba Cloud allows fewer calls")
    if code.startswith("InvalidSecurityToken"):
        return Unauthenticated(f"{answer.doing}: the session of the role is over ({code})", hint=_KEY)
    if code.startswith(("IncompleteSignature", "InvalidAccessKeyId", "InvalidTimeStamp", "Signature")):
        return Denied(f"{answer.doing}: the credentials are wrong or expired ({code})", hint=_KEY)
    if code == "Forbidden.ResourceNotFound":
        return NotFound(f"{answer.doing}: there is no such secret or version", hint="check remoteRef")
    if answer.status == 403:  # noqa: PLR2004  # HTTP
        return NotPermitted(f"{answer.doing}: permission denied ({code})", hint=endpoint.grant)
    return Refused(f"{answer.doing}: HTTP {answer.status}, {code}", hint="check remoteRef")


_REFUSALS: Final = Refusals(
    vendor="Alibaba Cloud", check="check regionID", errors=dict.fromkeys((400, 403, 404, 409), _refused)
)


@asynccontextmanager
async def open_store(spec: AlibabaSpec, context: OpenContext) -> AsyncGenerator[AlibabaClient, None]:
    """A client that signs. Raises SyncError."""
    url = ADDRESSES.get("ALIBABA_CLOUD_KMS_ENDPOINT") or f"https://kms.{spec.region_id}.aliyuncs.com"

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[AccessKey]:
            if spec.auth.rrsa is not None:
                return await _of_role(spec.auth.rrsa, http, context)
            return ExpiringValue(await _named(spec.auth.secret_ref, context))

        return SignedRequests(log_in, context, signer(url, context.now))

    async with connected(url, context, identify, _REFUSALS) as api:
        yield AlibabaClient(api, context.compute)


async def _named(ref: AlibabaSecretRef | None, context: OpenContext) -> AccessKey:
    if ref is None:
        raise Malformed("the store names no credentials", hint="write auth.secretRef or auth.rrsa")
    path = "auth.secretRef"
    id_ = await read_text(context, ref.access_key_id_secret_ref, f"{path}.accessKeyIDSecretRef")
    secret = await read_text(context, ref.access_key_secret_secret_ref, f"{path}.accessKeySecretSecretRef")
    return AccessKey(id_.strip(), secret.strip())


class _Credentials(msgspec.Struct):
    AccessKeyId: str
    AccessKeySecret: str
    SecurityToken: str
    Expiration: str = ""


class _Assumed(msgspec.Struct):
    Credentials: _Credentials


def _code(answer: Answer) -> str:
    failure = answer.decode_if(_Failure)
    return "" if failure is None else failure.Code


async def _of_role(rrsa: AlibabaRrsa, http: Http, context: OpenContext) -> ExpiringValue[AccessKey]:
    """Credentials of the role, for the token in the file, which is read anew each time."""
    token = context.read_file(rrsa.oidc_token_file_path, what="OIDC token")
    fields = {
        "RoleArn": rrsa.role_arn,
        "OIDCProviderArn": rrsa.oidc_provider_arn,
        "OIDCToken": token.raw.decode("ascii", "replace"),
        "RoleSessionName": rrsa.session_name,
        "DurationSeconds": str(_SECONDS),
    }
    common = {
        "Action": "AssumeRoleWithOIDC",
        "Format": "JSON",
        "Timestamp": timestamp(context.now()),
        "Version": "2015-04-01",
    }
    sts = ADDRESSES.get("ALIBABA_CLOUD_STS_ENDPOINT") or "https://sts.aliyuncs.com"
    answer = await log_in_with(
        http,
        f"{sts}/?{urlencode(common)}",
        form_body(fields),
        doing="assuming the role of auth.rrsa",
        hint="check its ARNs: does the role trust the cluster's issuer and the daemon's ServiceAccount?",
        reason=_code,
    )
    given = answer.decode(_Assumed).Credentials
    expires = moment(given.Expiration) or context.now() + _SECONDS
    return ExpiringValue(AccessKey(given.AccessKeyId, given.AccessKeySecret, given.SecurityToken), expires)
