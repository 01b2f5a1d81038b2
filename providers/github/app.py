"""A GitHub App: its key, the tokens of its installations, and what GitHub's refusals mean."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.config.fields import Json, SecretKeySelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.kit.auth import jwt
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Http, json_body, segments
from syncret.providers.kit.http.answers import retry_after
from syncret.providers.kit.rest.logins import moment
from syncret.providers.values import SecretBytes

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_DOING: Final = "asking GitHub for a token"
_CLOCK_SKEW: Final = 10
"""Seconds that GitHub's clock may be behind."""

_LASTS: Final = 300
_HOUR: Final = 3600.0
_MINUTE: Final = 60.0
_MOMENT: Final = re.compile(r"[0-9]{1,10}")
_REFUSALS: Final[dict[int, tuple[type[SyncError], str, str]]] = {
    HTTPStatus.UNAUTHORIZED: (
        Denied,
        "the App is not known by this key",
        "check auth.privateKey, and appID: does the key belong to the App, and is the clock right?",
    ),
    HTTPStatus.FORBIDDEN: (Denied, "the App may not do this", "is its installation suspended?"),
    HTTPStatus.NOT_FOUND: (
        Malformed,
        "there is no such installation of the App",
        "check the ID of the installation, appID and url",
    ),
    HTTPStatus.UNPROCESSABLE_ENTITY: (
        Denied,
        "the installation does not have these repositories or permissions",
        "grant them to the App, or ask for less",
    ),
}


class _Issued(msgspec.Struct):
    token: str
    expires_at: str = ""


async def app_key(context: OpenContext, selector: SecretKeySelector) -> "RSAPrivateKey":
    """The private key of an App. Raises SyncError."""
    document = await context.credentials.secret_key(selector.name, selector.key, selector.namespace)
    key = await context.compute(lambda work: jwt.private_key(document.raw, work))
    if key is None:
        raise Malformed(
            f'key "{selector.key}" of Secret "{selector.name}" holds no RSA private key in PEM',
            hint="store the file just as GitHub gave it",
        )
    return key


async def installation_token(
    http: Http,
    context: OpenContext,
    *,
    app: str,
    installation: str,
    key: "RSAPrivateKey",
    wanted: Mapping[str, Json],
) -> ExpiringValue[SecretBytes]:
    """A token of an installation, with what is wanted of it; nothing: all that it has. Raises SyncError."""
    now = int(context.now())
    claims: dict[str, Json] = {"iss": app, "iat": now - _CLOCK_SKEW, "exp": now + _LASTS}
    answer = await http.request(
        "POST",
        f"/app/installations/{segments(installation)}/access_tokens",
        doing=_DOING,
        headers={
            "Authorization": f"Bearer {jwt.signed(key, claims)}",
            "Accept": "application/vnd.github.v3+json",
        },
        body=json_body(wanted) if wanted else None,
        accept=_REFUSALS,
    )
    if answer.status in _REFUSALS:
        error, problem, hint = _REFUSALS[answer.status]
        denied = error(f"{_DOING}: {problem} (HTTP {answer.status})", hint=hint)
        raise throttled(answer, context.now()) or denied
    issued = answer.decode(_Issued)
    return ExpiringValue(SecretBytes(issued.token.encode()), moment(issued.expires_at) or now + _HOUR)


def throttled(answer: Answer, now: float) -> Throttled | None:
    """The error if GitHub means that calls are too many: it answers 403 to those, too."""
    if answer.status != HTTPStatus.FORBIDDEN:
        return None
    after = retry_after(answer.headers.get("retry-after", ""), lambda: now)
    if after is None and answer.headers.get("x-ratelimit-remaining") == "0":
        reset = answer.headers.get("x-ratelimit-reset", "")
        after = max(0.0, int(reset) - now) if _MOMENT.fullmatch(reset) else _MINUTE
    if after is None and b"secondary rate" in answer.body.lower():
        after = _MINUTE
    if after is None:
        return None
    return Throttled(f"{answer.doing}: GitHub allows fewer calls", retry_after=after)
