"""Gets access tokens: for an assertion, by exchange of another token, by impersonation."""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, NamedTuple, TypeAlias

import msgspec

from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.auth.logins import ExpiringValue, bearer
from syncret.providers.kit.auth.refused import RefusedLogin, login_by
from syncret.providers.kit.google.endpoints import CLOUD_PLATFORM
from syncret.providers.kit.google.errors import EXPECTED, error_of, login_error_of
from syncret.providers.kit.http import Answer, Body, Http, form_body, json_body
from syncret.providers.values import SecretBytes

TOKEN_TYPE_JWT: Final = "urn:ietf:params:oauth:token-type:jwt"
EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN: Final = "urn:ietf:params:oauth:token-type:access_token"

_HOUR: Final = 3600
_REFUSED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class Access(NamedTuple):
    """A token, and the quota project, if that differs from the called one."""

    token: SecretBytes
    quota_project: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request."""
        sent = bearer(self.token)
        return {**sent, "X-Goog-User-Project": self.quota_project} if self.quota_project else sent


Login: TypeAlias = Callable[[], Awaitable[ExpiringValue[Access]]]
"""Gets a new token. Raises SyncError."""


class _TokenResponse(msgspec.Struct):
    access_token: str
    expires_in: int = _HOUR


class _Impersonated(msgspec.Struct, rename="camel"):
    access_token: str
    expire_time: datetime


def login_of(login: Login, method: str, check: str) -> Login:
    """The login, which names its method and what to check if Google refuses it."""

    async def run() -> ExpiringValue[Access]:
        with login_by(method, check):
            return await login()

    return run


async def request_token(
    http: Http, url: str, fields: Mapping[str, str], *, doing: str, now: float
) -> ExpiringValue[Access]:
    """The token for a form, from an OAuth token endpoint."""
    return await _post(http, url, form_body(fields), doing=doing, now=now, headers={})


async def request_gke_token(
    http: Http, url: str, fields: Mapping[str, str], *, doing: str, now: float
) -> ExpiringValue[Access]:
    """As `request_token`, for the endpoint of GKE, which takes JSON."""
    return await _post(http, url, json_body(fields), doing=doing, now=now, headers={})


class Exchange(NamedTuple):
    """A token of another issuer, and the audience of the exchange. Only workforce pools have a client."""

    audience: str
    subject_token: str
    subject_token_type: str
    client_id: str = ""
    client_secret: str = ""
    options: str = ""


async def exchange_token(
    http: Http, url: str, wanted: Exchange, *, doing: str, now: float
) -> ExpiringValue[Access]:
    """Exchange a token for one of Google: RFC 8693 at Google's STS."""
    fields = {
        "grant_type": EXCHANGE,
        "audience": wanted.audience,
        "scope": CLOUD_PLATFORM,
        "requested_token_type": ACCESS_TOKEN,
        "subject_token": wanted.subject_token,
        "subject_token_type": wanted.subject_token_type,
    }
    headers: dict[str, str] = {}
    if wanted.options:
        fields["options"] = wanted.options
    if wanted.client_id:
        pair = f"{wanted.client_id}:{wanted.client_secret}".encode()
        headers["Authorization"] = f"Basic {b64encode(pair).decode()}"
    return await _post(http, url, form_body(fields), doing=doing, now=now, headers=headers)


async def impersonate(
    http: Http, url: str, access: Access, *, seconds: int = _HOUR, delegates: tuple[str, ...] = ()
) -> ExpiringValue[Access]:
    """A token of the service account in the URL, obtained with another token."""
    doing = "impersonating the service account at Google"
    wanted: dict[str, object] = {"scope": [CLOUD_PLATFORM], "lifetime": f"{seconds}s"}
    if delegates:
        wanted["delegates"] = delegates
    answer = await http.request(
        "POST", url, doing=doing, headers=access.headers, body=json_body(wanted), accept=EXPECTED
    )
    if answer.status != HTTPStatus.OK:
        allow = "grant the caller roles/iam.workloadIdentityUser on that service account; does it exist?"
        error = error_of(answer, allow=allow) or Malformed(f"{doing}: there is no such service account")
        if isinstance(error, Denied):
            error = RefusedLogin(f"{doing}: Google refuses it (HTTP {answer.status})", hint=error.hint)
        raise error
    given = answer.decode(_Impersonated)
    expires = given.expire_time if given.expire_time.tzinfo else given.expire_time.replace(tzinfo=UTC)
    return ExpiringValue(
        Access(SecretBytes(given.access_token.encode()), access.quota_project), expires.timestamp()
    )


async def _post(
    http: Http, url: str, body: Body, *, doing: str, now: float, headers: Mapping[str, str]
) -> ExpiringValue[Access]:
    answer = await http.request("POST", url, doing=doing, body=body, headers=headers, accept=_REFUSED)
    if answer.status in _REFUSED:
        raise login_error_of(answer)
    return token_of(answer, now)


def token_of(answer: Answer, now: float) -> ExpiringValue[Access]:
    """The token in a response of RFC 6749."""
    given = answer.decode(_TokenResponse)
    return ExpiringValue(Access(SecretBytes(given.access_token.encode())), now + given.expires_in)
