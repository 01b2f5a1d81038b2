"""How a store logs in to Conjur: an API key, a JWT or a client certificate is exchanged for a token."""

from base64 import b64encode, urlsafe_b64decode
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeAlias

import msgspec

from syncret.providers.conjur.spec import ConjurSpec, JwtAuth
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Body, Http, form_body, segments
from syncret.providers.kit.references import read_trimmed
from syncret.providers.kit.rest.logins import account_jwt, log_in_with
from syncret.providers.values import SecretBytes

Login: TypeAlias = Callable[[], Awaitable[ExpiringValue[SecretBytes]]]

_LIFETIME: Final = 480.0
"""Seconds for which a token without an end of its own is good."""

_JWT_SECONDS: Final = 600


class _Method(NamedTuple):
    """One way to log in: where to, with what, and what to check."""

    path: str
    name: str
    body: Callable[[], Awaitable[Body]]
    hint: str


class _Token(msgspec.Struct):
    payload: str


class _Payload(msgspec.Struct):
    iat: float
    exp: float | None = None


def account_of(spec: ConjurSpec) -> str:
    """The account that the login is for."""
    auth = spec.auth.apikey or spec.auth.jwt or spec.auth.cert
    return "" if auth is None else auth.account


async def choose_login(spec: ConjurSpec, http: Http, context: OpenContext) -> Login:
    """The login of the spec. Raises SyncError."""
    method = await _method(spec, context)
    doing = f"logging in to Conjur by {method.name}"

    async def log_in() -> ExpiringValue[SecretBytes]:
        answer = await log_in_with(http, method.path, await method.body(), doing=doing, hint=method.hint)
        return ExpiringValue(SecretBytes(answer.body), context.now() + _lifetime(answer))

    return log_in


def token_header(token: SecretBytes) -> dict[str, str]:
    """The header of a token, which is a JSON document."""
    return {"Authorization": f'Token token="{b64encode(token.raw).decode()}"'}


async def _method(spec: ConjurSpec, context: OpenContext) -> _Method:
    auth = spec.auth
    if auth.apikey is not None:
        user = await read_trimmed(context, auth.apikey.user_ref, "auth.apikey.userRef")
        key = await read_trimmed(context, auth.apikey.api_key_ref, "auth.apikey.apiKeyRef")
        path = f"/authn/{segments(auth.apikey.account, user)}/authenticate"
        return _Method(
            path, "apikey", _sending(Body(key.encode(), "text/plain")), "check userRef and apiKeyRef"
        )
    if auth.jwt is not None:
        jwt = auth.jwt
        place = segments(jwt.service_id, jwt.account, *([jwt.host_id] if jwt.host_id else []))
        hint = "check serviceID and hostId: is the authenticator enabled, and does it trust this issuer?"
        return _Method(f"/authn-jwt/{place}/authenticate", "jwt", lambda: _jwt_body(jwt, context), hint)
    if auth.cert is not None:
        cert = auth.cert
        place = segments(cert.service_id, cert.account, *([_host(cert.host_id)] if cert.host_id else []))
        hint = "check serviceID and hostId: does the authenticator trust the certificate's authority?"
        return _Method(f"/authn-cert/{place}/authenticate", "cert", _sending(Body(b"")), hint)
    raise Malformed("missing auth method", hint="write apikey, jwt or cert")


def _host(name: str) -> str:
    """The role of a host; as in the vendor's client, its kind may be left out for a certificate."""
    return name if name.startswith("host/") else f"host/{name}"


def _sending(body: Body) -> Callable[[], Awaitable[Body]]:
    async def same() -> Body:
        return body

    return same


async def _jwt_body(auth: JwtAuth, context: OpenContext) -> Body:
    """A new token of the ServiceAccount, or what the Secret holds now."""
    if auth.service_account_ref is not None:
        token = await account_jwt(context, auth.service_account_ref, seconds=_JWT_SECONDS)
    else:
        token = await read_trimmed(context, auth.secret_ref, "auth.jwt.secretRef", key="token")
    return form_body({"jwt": token})


def _lifetime(answer: Answer) -> float:
    """Seconds for which a token is good, by Conjur's own clock. Raises Malformed."""
    payload = answer.decode(_Token).payload
    try:
        times = msgspec.json.decode(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), type=_Payload)
    except (ValueError, msgspec.MsgspecError):
        times = None
    if times is None:
        raise Malformed(f"{answer.doing}: the answer is no token of Conjur", hint="does url lead to Conjur?")
    return _LIFETIME if times.exp is None else times.exp - times.iat
