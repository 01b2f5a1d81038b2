"""The logins of Akeyless: an access ID with a key, or a ServiceAccount's token that a gateway verifies."""

from base64 import b64encode
from typing import Final

import msgspec

from syncret.providers.akeyless.spec import AkeylessSpec, KubernetesAuth
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue
from syncret.providers.kit.http import Http, json_body
from syncret.providers.kit.references import read_trimmed
from syncret.providers.kit.rest.logins import account_jwt, log_in_with
from syncret.providers.values import SecretBytes

_SECONDS: Final = 600
_LASTS: Final = 1800.0
"""Seconds after which a token is replaced; the API does not say how long one is good."""

_KEYS: Final = {"api_key", "access_key"}


class _Token(msgspec.Struct):
    token: str


def login_of(spec: AkeylessSpec, http: Http, context: OpenContext) -> ExpiringLogin[SecretBytes]:
    """The login of the spec."""

    async def log_in() -> ExpiringValue[SecretBytes]:
        answer = await log_in_with(
            http,
            "/auth",
            json_body(await _proof(spec, context)),
            doing="logging in to Akeyless",
            hint="check the access ID, and its key or the Kubernetes auth configuration of the gateway",
        )
        return ExpiringValue(SecretBytes(answer.decode(_Token).token.encode()), context.now() + _LASTS)

    return ExpiringLogin(log_in, now=context.now, log_in=context.log_in)


async def _proof(spec: AkeylessSpec, context: OpenContext) -> dict[str, str]:
    auth = spec.auth_secret_ref
    if auth.kubernetes_auth is not None:
        jwt = await _account_token(auth.kubernetes_auth, context)
        return {
            "access-id": auth.kubernetes_auth.access_id,
            "access-type": "k8s",
            "k8s-auth-config-name": auth.kubernetes_auth.k8s_conf_name,
            "k8s-service-account-token": b64encode(jwt.encode()).decode(),
        }
    path, ref = "authSecretRef.secretRef", auth.secret_ref
    kind = await read_trimmed(context, ref.access_type, f"{path}.accessType")
    if kind not in _KEYS:
        raise Malformed(
            f"access type {kind!r} is not supported", hint="use api_key or access_key, or kubernetesAuth"
        )
    return {
        "access-id": await read_trimmed(context, ref.access_id, f"{path}.accessID"),
        "access-type": "access_key",
        "access-key": await read_trimmed(context, ref.access_type_param, f"{path}.accessTypeParam"),
    }


async def _account_token(auth: KubernetesAuth, context: OpenContext) -> str:
    if auth.service_account_ref is not None:
        return await account_jwt(context, auth.service_account_ref, seconds=_SECONDS)
    if auth.secret_ref is not None:
        path = "authSecretRef.kubernetesAuth.secretRef"
        return await read_trimmed(context, auth.secret_ref, path, key="token")
    raise Malformed(
        "kubernetesAuth names no ServiceAccount", hint="write serviceAccountRef, or secretRef with a token"
    )
