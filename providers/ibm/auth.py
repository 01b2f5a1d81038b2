"""How a store logs in to IBM Cloud: an API key, or a trusted profile with a token of this container."""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

import msgspec

from syncret.providers.contract import OpenContext, ReadFile
from syncret.providers.errors import Malformed
from syncret.providers.ibm.receivers import IAM, receivers
from syncret.providers.ibm.spec import IbmContainerAuth, IbmSecretRef, IbmSpec
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Http, form_body
from syncret.providers.kit.rest.logins import log_in_with, oauth_token
from syncret.providers.values import SecretBytes

Login: TypeAlias = Callable[[], Awaitable[ExpiringValue[SecretBytes]]]
"""Gets a new access token. Raises SyncError."""

TOKEN_FILE: Final = "/var/run/secrets/tokens/vault-token"
"""The path of the container's token in IBM's documentation of trusted profiles."""

_PATH: Final = "/identity/token"
_GRANTS: Final = "urn:ibm:params:oauth:grant-type"
_TOKEN: Final = re.compile(rb"[\w-]+\.[\w-]+\.[\w-]+")
_CODE: Final = re.compile(r"BXNIM[0-9]{4}E")


class _Failure(msgspec.Struct, rename="camel"):
    error_code: str = ""


async def choose_login(spec: IbmSpec, http: Http, context: OpenContext) -> Login:
    """The login of the spec. The container's token is short-lived, and read anew for each login."""
    auth = spec.auth
    if auth.container_auth is not None:
        context.ambient(receivers(spec))
        return partial(_container_login, auth.container_auth, http, context)
    if auth.secret_ref is not None:
        return partial(
            _key_login, await _api_key(auth.secret_ref, context), auth.secret_ref, http, context.now
        )
    raise Malformed("missing auth method", hint="write secretRef or containerAuth")


async def _api_key(ref: IbmSecretRef, context: OpenContext) -> SecretBytes:
    selector = ref.secret_api_key_secret_ref
    stored = await context.credentials.secret_key(selector.name, selector.key, selector.namespace)
    key = stored.raw.strip()
    if not key:
        raise Malformed(f'key "{selector.key}" of Secret "{selector.name}" is empty', hint="store an API key")
    return SecretBytes(key)


async def _key_login(
    key: SecretBytes, ref: IbmSecretRef, http: Http, now: Callable[[], float]
) -> ExpiringValue[SecretBytes]:
    fields = {
        "grant_type": f"{_GRANTS}:apikey",
        "apikey": key.raw.decode("utf-8", "replace"),
        "response_type": "cloud_iam",
    }
    return await _request_token(
        http,
        ref.iam_endpoint,
        fields,
        now,
        method="secretRef",
        hint="check auth.secretRef.secretApiKeySecretRef: was the API key deleted or locked?",
    )


async def _container_login(
    auth: IbmContainerAuth, http: Http, context: OpenContext
) -> ExpiringValue[SecretBytes]:
    token = _container_token(auth.token_location or TOKEN_FILE, context.read_file)
    fields = {
        "grant_type": f"{_GRANTS}:cr-token",
        "cr_token": token.raw.decode("utf-8", "replace"),
        "profile_name": auth.profile,
    }
    hint = (
        "check auth.containerAuth.profile: is it linked to this compute resource, and is the token's "
        "audience iam?"
    )
    return await _request_token(
        http, auth.iam_endpoint, fields, context.now, method="containerAuth", hint=hint
    )


def _container_token(path: str, read_file: ReadFile) -> SecretBytes:
    """The container's token."""
    token = read_file(path, what="compute resource token")
    if not _TOKEN.fullmatch(token.raw):
        raise Malformed(
            f"the compute resource token file {path} holds no token",
            hint="it must hold one JWT, as Kubernetes projects it into a volume",
        )
    return token


async def _request_token(
    http: Http,
    endpoint: str | None,
    fields: Mapping[str, str],
    now: Callable[[], float],
    *,
    method: str,
    hint: str,
) -> ExpiringValue[SecretBytes]:
    url = (endpoint or IAM).rstrip("/").removesuffix(_PATH) + _PATH
    doing = f"logging in to IBM Cloud IAM by {method}"
    answer = await log_in_with(http, url, form_body(fields), doing=doing, hint=hint, reason=_code)
    return oauth_token(answer, now)


def _code(answer: Answer) -> str:
    """IAM's error code; its text is not quoted."""
    failure = answer.decode_if(_Failure) or _Failure()
    return failure.error_code if _CODE.fullmatch(failure.error_code) else ""
