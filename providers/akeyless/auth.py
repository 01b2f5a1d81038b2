"""The logins of Akeyless: with a key, a ServiceAccount's token, or a proof of an identity at a cloud."""

from base64 import b64encode
from typing import Final, NamedTuple

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
_CLOUDS: Final = {
    "aws_iam": "that the auth method allows the daemon's role and account at AWS",
    "azure_ad": "that the auth method allows the tenant and the identity at Azure, and its audience",
    "gcp": "that the auth method allows the service account at Google, and the audience in accessTypeParam",
}
"""What may be wrong if Akeyless refuses the proof of a cloud, by access type."""


class _Login(NamedTuple):
    """What is sent, and what to check if it is refused."""

    body: dict[str, str]
    check: str


class _Token(msgspec.Struct):
    token: str


def login_of(spec: AkeylessSpec, http: Http, context: OpenContext) -> ExpiringLogin[SecretBytes]:
    """The login of the spec."""

    async def log_in() -> ExpiringValue[SecretBytes]:
        login = await _login(spec, context)
        answer = await log_in_with(
            http,
            "/auth",
            json_body(login.body),
            doing="logging in to Akeyless",
            hint=f"check the access ID, and {login.check}",
        )
        return ExpiringValue(SecretBytes(answer.decode(_Token).token.encode()), context.now() + _LASTS)

    return ExpiringLogin(log_in, now=context.now, log_in=context.log_in)


async def _login(spec: AkeylessSpec, context: OpenContext) -> _Login:
    auth = spec.auth_secret_ref
    if auth.kubernetes_auth is not None:
        jwt = await _account_token(auth.kubernetes_auth, context)
        body = {
            "access-id": auth.kubernetes_auth.access_id,
            "access-type": "k8s",
            "k8s-auth-config-name": auth.kubernetes_auth.k8s_conf_name,
            "k8s-service-account-token": b64encode(jwt.encode()).decode(),
        }
        return _Login(body, "the Kubernetes auth configuration of the gateway")
    path, ref = "authSecretRef.secretRef", auth.secret_ref
    kind = await read_trimmed(context, ref.access_type, f"{path}.accessType")
    if kind not in _KEYS and kind not in _CLOUDS:
        raise Malformed(
            f'{path}.accessType: Secret "{ref.access_type.name}" holds no access type that is supported',
            hint="write api_key, access_key, aws_iam, azure_ad or gcp into it; for k8s use kubernetesAuth",
        )
    access = await read_trimmed(context, ref.access_id, f"{path}.accessID")
    selector, parameter = ref.access_type_param if ref.access_type_param.name else None, ""
    if selector is not None or kind in _KEYS:
        parameter = await read_trimmed(context, selector, f"{path}.accessTypeParam")
    if kind in _KEYS:
        return _Login({"access-id": access, "access-type": "access_key", "access-key": parameter}, "its key")
    proof = b64encode(await _cloud_id(kind, parameter, spec, context)).decode()
    return _Login({"access-id": access, "access-type": kind, "cloud-id": proof}, _CLOUDS[kind])


async def _cloud_id(kind: str, parameter: str, spec: AkeylessSpec, context: OpenContext) -> bytes:
    """The proof of an identity at a cloud, made anew for each login. Raises SyncError."""
    if kind == "aws_iam":
        from syncret.providers.akeyless import aws  # needs a parser of XML, among others

        return await aws.cloud_id(spec, context)
    if kind == "azure_ad":
        from syncret.providers.akeyless import azure  # as above

        return await azure.cloud_id(spec, parameter, context)
    from syncret.providers.akeyless import google  # as above

    return await google.cloud_id(spec, parameter, context)


async def _account_token(auth: KubernetesAuth, context: OpenContext) -> str:
    if auth.service_account_ref is not None:
        return await account_jwt(context, auth.service_account_ref, seconds=_SECONDS)
    if auth.secret_ref is not None:
        path = "authSecretRef.kubernetesAuth.secretRef"
        return await read_trimmed(context, auth.secret_ref, path, key="token")
    raise Malformed(
        "kubernetesAuth names no ServiceAccount", hint="write serviceAccountRef, or secretRef with a token"
    )
