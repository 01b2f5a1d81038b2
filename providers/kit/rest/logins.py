"""Logs in: one request with a proof, whose answer is a token and its expiry."""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, TypeVar

import msgspec

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Body, Http, form_body
from syncret.providers.values import SecretBytes

T = TypeVar("T")

REFUSED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

_COOKIE: Final = re.compile(r"(?:^|, )([\w!#$%&'*+.^`|~-]+=[^;,\s]*)")
"""One of the cookies of a header; several are joined by commas."""


def _no_reason(_answer: Answer) -> str:
    return ""


async def log_in_with(
    http: Http,
    url: str,
    body: Body,
    *,
    doing: str,
    hint: str,
    reason: Callable[[Answer], str] = _no_reason,
) -> Answer:
    """The answer to a login. Raises Denied if it is refused; `reason` is a code, never a text."""
    answer = await http.request(
        "POST", url, doing=doing, headers={"Accept": "application/json"}, body=body, accept=REFUSED
    )
    if answer.status in REFUSED:
        code = reason(answer)
        status = f"HTTP {answer.status}, {code}" if code else f"HTTP {answer.status}"
        raise Denied(f"{doing}: the login is refused ({status})", hint=hint)
    return answer


class _Token(msgspec.Struct):
    access_token: str
    expires_in: float


class _CamelToken(msgspec.Struct, rename="camel"):
    access_token: str
    expires_in: float


def oauth_token(answer: Answer, now: Callable[[], float]) -> ExpiringValue[SecretBytes]:
    """The token in an answer of OAuth 2 (RFC 6749, 5.1). Raises Malformed."""
    return _expiring(answer.decode(_Token), now)


def camel_token(answer: Answer, now: Callable[[], float]) -> ExpiringValue[SecretBytes]:
    """The same where the members are `accessToken` and `expiresIn`."""
    return _expiring(answer.decode(_CamelToken), now)


def _expiring(given: _Token | _CamelToken, now: Callable[[], float]) -> ExpiringValue[SecretBytes]:
    return ExpiringValue(SecretBytes(given.access_token.encode()), now() + given.expires_in)


async def client_credentials(
    http: Http, url: str, client: str, secret: str, now: Callable[[], float], *, hint: str
) -> ExpiringValue[SecretBytes]:
    """The token of an application, by OAuth 2's grant `client_credentials`. Raises SyncError."""
    fields = {"grant_type": "client_credentials", "client_id": client, "client_secret": secret}
    answer = await log_in_with(
        http, url, form_body(fields), doing="logging in with client credentials", hint=hint
    )
    return oauth_token(answer, now)


async def account_jwt(
    context: OpenContext, account: ServiceAccountSelector, *, seconds: int, audience: str = ""
) -> str:
    """A new token of a ServiceAccount, for the audiences that the spec names, or else for this one."""
    audiences = account.audiences or ((audience,) if audience else ())
    issued = await context.credentials.account_token(
        account.name, audiences=audiences, seconds=seconds, namespace=account.namespace
    )
    return issued.token.raw.decode("ascii", "replace")


def moment(text: str) -> float | None:
    """An RFC 3339 timestamp in seconds since the epoch; None if it is none. Without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def token_until(token: str, end: str, answer: Answer) -> ExpiringValue[SecretBytes]:
    """A token, and the timestamp of its end, in an answer. Raises Malformed if there is no such time."""
    expires = moment(end)
    if expires is None:
        raise Malformed(f"{answer.doing}: the answer does not say when the token expires")
    return ExpiringValue(SecretBytes(token.encode()), expires)


def already_made(
    first: ExpiringValue[T], login: Callable[[], Awaitable[ExpiringValue[T]]]
) -> Callable[[], Awaitable[ExpiringValue[T]]]:
    """A login that was made to learn where the API is, and is made again when it expires."""
    fresh = [first]

    async def renewed() -> ExpiringValue[T]:
        return fresh.pop() if fresh else await login()

    return renewed


def session_cookies(answer: Answer, hint: str) -> SecretBytes:
    """The session that a login began: its cookies, as they are sent. Raises Malformed if there are none."""
    found = _COOKIE.findall(answer.headers.get("set-cookie", ""))
    if not found:
        raise Malformed(f"{answer.doing}: the answer begins no session", hint=hint)
    return SecretBytes("; ".join(found).encode())


def cookie(session: SecretBytes) -> Mapping[str, str]:
    """The headers of requests in a session."""
    return {"Cookie": session.raw.decode("ascii", "replace")}
