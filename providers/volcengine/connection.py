"""Opens a store: an access key, or the role of the daemon's own ServiceAccount (IRSA)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Http, form_body
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals, denied
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import Identity
from syncret.providers.kit.rest.logins import log_in_with, moment
from syncret.providers.kit.rest.signed import AccessKey, SignedRequests
from syncret.providers.volcengine.client import NotFound, VolcengineClient, WrongState
from syncret.providers.volcengine.receivers import address, receivers, sts
from syncret.providers.volcengine.signing import signer
from syncret.providers.volcengine.spec import VolcengineSecretRef, VolcengineSpec

_SECONDS: Final = "3600"
_KEY: Final = "check auth.secretRef and region, and whether the clock is right"
_LOGINS: Final = frozenset(
    {
        "InvalidAccessKey",
        "InvalidAuthorization",
        "InvalidCredential",
        "InvalidSecretToken",
        "InvalidTimestamp",
        "MissingAuthenticationToken",
        "MissingSignature",
        "SignatureDoesNotMatch",
    }
)


class _Error(msgspec.Struct):
    Code: str = ""


class _Metadata(msgspec.Struct):
    Error: _Error


class _Failure(msgspec.Struct):
    ResponseMetadata: _Metadata


def _refused(answer: Answer, endpoint: Endpoint) -> SyncError | None:
    """The error for a code: https://www.volcengine.com/docs/6369/68677 has those of all services.

    Those of this one are on the page of each action, such as https://www.volcengine.com/docs/6476/1355672.
    """
    failure = answer.decode_if(_Failure)
    if failure is None:
        return None
    code = failure.ResponseMetadata.Error.Code
    if code == "FlowLimitExceeded" or code.startswith("Reject.Throttling."):  # the latter with HTTP 403
        return Throttled(f"{answer.doing}: Volcengine allows fewer calls")
    if code in _LOGINS:
        return Denied(f"{answer.doing}: Volcengine refuses the access key ({code})", hint=_KEY)
    if code == "AccessDenied" or answer.status == 403:  # noqa: PLR2004  # HTTP
        return denied(answer, endpoint)
    if answer.status == 404 and code.replace(" ", "").startswith("NotFound"):  # noqa: PLR2004  # HTTP
        hint = "check remoteRef, and whether the key that the secret is encrypted with is there"
        return NotFound(f"{answer.doing}: Volcengine finds no such secret, version or key", hint=hint)
    if code == "InvalidSecretStatus":
        hint = "enable the secret, or cancel its deletion (CancelSecretDeletion)"
        return WrongState(f"{answer.doing}: the secret is disabled, or waits for its deletion", hint=hint)
    return Malformed(f"{answer.doing}: HTTP {answer.status}, {code}", hint="check remoteRef")


_REFUSALS: Final = Refusals(
    vendor="Volcengine", check="check region", errors=dict.fromkeys((400, 403, 404), _refused)
)


@asynccontextmanager
async def open_store(spec: VolcengineSpec, context: OpenContext) -> AsyncGenerator[VolcengineClient, None]:
    """A client that signs. Raises SyncError."""
    url = address(spec.region)

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[AccessKey]:
            if spec.auth is not None and spec.auth.secret_ref is not None:
                return ExpiringValue(await _named(spec.auth.secret_ref, context))
            return await _of_role(spec, http, context)

        return SignedRequests(log_in, context, signer(url, spec.region, context.now))

    async with connected(url, context, identify, _REFUSALS) as api:
        yield VolcengineClient(api, context.compute)


async def _named(ref: VolcengineSecretRef, context: OpenContext) -> AccessKey:
    path = "auth.secretRef"
    id_ = await read_text(context, ref.access_key_id, f"{path}.accessKeyID")
    secret = await read_text(context, ref.secret_access_key, f"{path}.secretAccessKey")
    token = "" if ref.token is None else await read_text(context, ref.token, f"{path}.token")
    return AccessKey(id_.strip(), secret.strip(), token.strip())


class _Credentials(msgspec.Struct):
    AccessKeyId: str
    SecretAccessKey: str
    SessionToken: str
    Expiration: str = ""
    ExpiredTime: str = ""


class _Result(msgspec.Struct):
    Credentials: _Credentials


class _Assumed(msgspec.Struct):
    Result: _Result


async def _of_role(spec: VolcengineSpec, http: Http, context: OpenContext) -> ExpiringValue[AccessKey]:
    """The credentials of the role that the daemon's pod may assume."""
    own = context.ambient(receivers(spec))
    role = own.environment.get("VOLCENGINE_OIDC_ROLE_TRN", "")
    file = own.environment.get("VOLCENGINE_OIDC_TOKEN_FILE", "")
    if not role or not file:
        raise Malformed(
            "the daemon's pod has no role of Volcengine",
            hint="write auth.secretRef, or give the daemon's ServiceAccount a role (IRSA)",
        )
    token = own.read_file(file, what="OIDC token")
    fields = {
        "RoleTrn": role,
        "OIDCToken": token.raw.decode("ascii", "replace"),
        "RoleSessionName": own.environment.get("VOLCENGINE_OIDC_ROLE_SESSION_NAME", "") or "syncret",
        "DurationSeconds": _SECONDS,
    }
    policy = own.environment.get("VOLCENGINE_OIDC_ROLE_POLICY", "")
    if policy:
        fields["Policy"] = policy
    answer = await log_in_with(
        http,
        f"{sts()}/?Action=AssumeRoleWithOIDC&Version=2018-01-01",
        form_body(fields),
        doing="assuming the role of the daemon's pod",
        hint="does the role trust the cluster's issuer and the daemon's ServiceAccount?",
    )
    given = answer.decode(_Assumed).Result.Credentials
    expires = moment(given.Expiration or given.ExpiredTime) or context.now() + float(_SECONDS)
    return ExpiringValue(AccessKey(given.AccessKeyId, given.SecretAccessKey, given.SessionToken), expires)
