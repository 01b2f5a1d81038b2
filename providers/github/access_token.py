"""The generator GithubAccessToken: a token of a GitHub App's installation."""

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.contract import Generated, Generator, OpenContext, SecretBytes
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled

if TYPE_CHECKING:  # imports TLS
    from syncret.providers.kit.http import Answer

_API: Final = "https://api.github.com"
_DOING: Final = "asking GitHub for a token"
_CLOCK_SKEW: Final = 10
"""Seconds that GitHub's clock may be behind."""

_LASTS: Final = 300
_MINUTE: Final = 60.0
_MOMENT: Final = re.compile(r"[0-9]{1,10}")
_REFUSALS: Final[dict[int, tuple[type[SyncError], str, str]]] = {
    HTTPStatus.UNAUTHORIZED: (
        Denied,
        "the App is not known by this key",
        "check auth.privateKey.secretRef, and appID: does the key belong to the App, and is the clock right?",
    ),
    HTTPStatus.FORBIDDEN: (Denied, "the App may not do this", "is its installation suspended?"),
    HTTPStatus.NOT_FOUND: (
        Malformed,
        "there is no such installation of the App",
        "check installID, appID and url",
    ),
    HTTPStatus.UNPROCESSABLE_ENTITY: (
        Denied,
        "the installation does not have these repositories or permissions",
        "grant them to the App, or ask for less",
    ),
}


class GithubPrivateKey(Model):
    """The Secret key with the App's private key (PEM).

    Example: {secretRef: {name: github-app, key: private-key.pem}}
    """

    secret_ref: SecretKeySelector
    """The App's RSA key in PEM, exactly as GitHub supplied it.
    Example: {name: github-app, key: private-key.pem}"""


class GithubAppAuth(Model):
    """How the generator authenticates: as the App."""

    private_key: GithubPrivateKey
    """The App's private key, which signs the request."""


class GithubAccessTokenSpec(Model):
    """A token for an hour, with all permissions of the App or fewer.

    Example: {appID: '123456', installID: '7891011', auth: {privateKey: {secretRef: {name: github-app, key:
    private-key.pem}}}}
    """

    # Both IDs are numbers, which the resource model has as strings.
    app_id: str = msgspec.field(name="appID")
    """Number of the App, as text. Example: '123456'"""
    install_id: str = msgspec.field(name="installID")
    """Number of the App's installation, as text. Example: '7891011'"""
    auth: GithubAppAuth
    """The key of the App."""
    url: str = ""
    """The API of an enterprise server, which ends with `/api/v3`; absent: https://api.github.com.
    Example: https://github.example/api/v3"""
    repositories: tuple[str, ...] = ()
    """Names without owner that the token is good for; none: all repositories of the installation.
    Example: [web, api]"""
    permissions: dict[str, str] = {}
    """Permissions that the token has; none: all of the App. More than the App has is refused.
    Example: {contents: read}"""


class _Issued(msgspec.Struct):
    token: str


async def generate(spec: GithubAccessTokenSpec, context: OpenContext) -> Generated:
    """A token of the installation. It expires within the hour; there is nothing to clean up."""
    from syncret.providers.kit.auth import jwt
    from syncret.providers.kit.http import Http, json_body, segments  # imports asyncio and TLS

    ref = spec.auth.private_key.secret_ref
    document = await context.credentials.secret_key(ref.name, ref.key)
    key = await context.compute(lambda work: jwt.private_key(document.raw, work))
    if key is None:
        raise Malformed(
            f'key "{ref.key}" of Secret "{ref.name}" holds no RSA private key in PEM',
            hint="store the file just as GitHub gave it",
        )
    moment = int(context.now())
    claims = {"iss": spec.app_id, "iat": moment - _CLOCK_SKEW, "exp": moment + _LASTS}
    wanted: dict[str, Any] = {}
    if spec.permissions:
        wanted["permissions"] = spec.permissions
    if spec.repositories:
        wanted["repositories"] = spec.repositories
    async with Http(spec.url or _API, now=context.now, network=context.network) as http:
        answer = await http.request(
            "POST",
            f"/app/installations/{segments(spec.install_id)}/access_tokens",
            doing=_DOING,
            headers={
                "Authorization": f"Bearer {jwt.signed(key, claims)}",
                "Accept": "application/vnd.github.v3+json",
            },
            body=json_body(wanted) if wanted else None,
            accept=_REFUSALS,
        )
    if answer.status in _REFUSALS:
        raise _error_of(answer, context.now())
    return Generated({"token": SecretBytes(answer.decode(_Issued).token.encode())})


def _error_of(answer: "Answer", now: float) -> SyncError:
    """The error for a response without a token. GitHub answers 403 to throttled callers too."""
    from syncret.providers.kit.http.answers import retry_after  # imports TLS

    if answer.status == HTTPStatus.FORBIDDEN:
        after = retry_after(answer.headers.get("retry-after", ""), lambda: now)
        if after is None and answer.headers.get("x-ratelimit-remaining") == "0":
            reset = answer.headers.get("x-ratelimit-reset", "")
            after = max(0.0, int(reset) - now) if _MOMENT.fullmatch(reset) else _MINUTE
        if after is not None:
            return Throttled(f"{_DOING}: GitHub allows fewer calls", retry_after=after)
    error, problem, hint = _REFUSALS[answer.status]
    return error(f"{_DOING}: {problem} (HTTP {answer.status})", hint=hint)


ACCESS_TOKEN: Final = Generator(SpecType("GithubAccessToken", GithubAccessTokenSpec), generate=generate)
