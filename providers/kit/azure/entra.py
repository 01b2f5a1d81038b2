"""Access tokens of Microsoft Entra ID: for a secret, a certificate, or a token of another issuer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal, NamedTuple, TypeAlias
from uuid import uuid4

import msgspec

from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.auth.refused import RefusedLogin
from syncret.providers.kit.azure.signing import ClientCertificate
from syncret.providers.kit.http import Answer, Http, form_body, segments
from syncret.providers.values import SecretBytes

AUDIENCE: Final = "api://AzureADTokenExchange"
"""The audience of a token that Entra exchanges."""

_ADFS: Final = "adfs"
"""The tenant's name if AD FS issues the tokens instead of Entra: in some Azure Stacks."""

_ASSERTION: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_SECONDS: Final = 600
_REFUSED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

_Part: TypeAlias = Literal["client", "tenant", "proof"]

_CODES: Final[Mapping[int, tuple[_Part, str]]] = {
    50034: ("client", "there is no such application in this tenant"),
    53003: ("client", "a policy of conditional access forbids it"),
    70021: ("proof", "no federated credential of the application fits issuer, subject and audience of it"),
    90002: ("tenant", "there is no such tenant in this cloud"),
    500011: ("tenant", "the tenant does not know this service: is the cloud right, and the vault its own?"),
    700016: ("client", "there is no such application in this tenant"),
    700024: ("proof", "the signed token does not hold now: is the machine's clock right?"),
    700027: ("proof", "the application does not know this certificate: upload it, or replace an expired one"),
    700211: ("proof", "no federated credential of the application has this issuer"),
    700212: ("proof", "no federated credential of the application has this audience"),
    700213: ("proof", "no federated credential of the application has this subject"),
    900023: ("tenant", "it is neither an ID nor a domain"),
    7000112: ("client", "the application is disabled"),
    7000215: ("proof", "the client secret is wrong: is it the secret's value, and not its ID?"),
    7000222: ("proof", "the client secret has expired: add a new one to the application"),
}
"""The most likely cause, by Entra's error code."""

_WORDS: Final[Mapping[str, tuple[_Part, str]]] = {
    "invalid_client": ("proof", "it does not fit the client ID"),
    "invalid_request": ("tenant", "tenant ID or client ID is malformed"),
    "invalid_scope": ("tenant", "the service has another name in this cloud: is environmentType right?"),
    "unauthorized_client": ("client", "the application is disabled, or of another tenant"),
}
_UNKNOWN: Final[tuple[_Part, str]] = (
    "proof",
    "look the number up at https://login.microsoftonline.com/error",
)

_DOWN: Final = "temporarily_unavailable"
_DOWN_CODE: Final = 90033
"""The code for a directory that does not respond; its status is 400."""

Login: TypeAlias = Callable[[], Awaitable[ExpiringValue[SecretBytes]]]
"""Gets a new access token. Raises SyncError."""


class _TokenResponse(msgspec.Struct):
    access_token: str
    expires_in: int | str = 3600
    """A string from managed identity endpoints."""
    expires_on: int | str = ""
    """The same as a moment, from managed identity endpoints, whose tokens may be old already."""


class _Failure(msgspec.Struct):
    error: str = ""
    error_codes: list[int] = []


class LoginFields(NamedTuple):
    """The fields of the spec that a login uses, for the message if Entra refuses it."""

    method: str
    client: str
    tenant: str
    proof: str
    """The secret, the certificate, or whose token is exchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """An application that logs in: where, and for which service (`https://vault.azure.net`)."""

    authority: str
    tenant: str
    client_id: str
    resource: str
    fields: LoginFields

    @property
    def url(self) -> str:
        """The token endpoint."""
        if self.tenant == _ADFS:
            return f"{self.authority.removesuffix(f'/{_ADFS}')}/{_ADFS}/oauth2/token"
        return f"{self.authority}/{segments(self.tenant)}/oauth2/v2.0/token"


async def log_in_with_secret(
    http: Http, application: Application, secret: SecretBytes, now: Callable[[], float]
) -> ExpiringValue[SecretBytes]:
    """Log in with a client secret."""
    return await _request_token(
        http, application, {"client_secret": secret.raw.decode("utf-8", "replace")}, now
    )


async def log_in_with_certificate(
    http: Http, application: Application, certificate: ClientCertificate, now: Callable[[], float]
) -> ExpiringValue[SecretBytes]:
    """Log in with an assertion that the application signs."""
    moment = int(now())
    claims = {
        "aud": application.url,
        "iss": application.client_id,
        "sub": application.client_id,
        "jti": str(uuid4()),
        "iat": moment,
        "nbf": moment,
        "exp": moment + _ASSERTION_SECONDS,
    }
    signed = certificate.signed(claims, legacy=application.tenant == _ADFS)
    return await _request_token(http, application, _assertion_fields(signed), now)


async def log_in_with_token(
    http: Http, application: Application, token: SecretBytes, now: Callable[[], float]
) -> ExpiringValue[SecretBytes]:
    """Log in with a token of an issuer that the application trusts: federation."""
    return await _request_token(
        http, application, _assertion_fields(token.raw.decode("ascii", "replace")), now
    )


def token_of(answer: Answer, now: float) -> ExpiringValue[SecretBytes]:
    """The token in a response of RFC 6749. Raises Malformed."""
    given = answer.decode(_TokenResponse)
    token, moment = SecretBytes(given.access_token.encode()), _digits(given.expires_on)
    if moment:
        return ExpiringValue(token, int(moment))
    seconds = _digits(given.expires_in)
    if not seconds:
        raise Malformed(f"{answer.doing}: expires_in is not a number", hint="is there a proxy in between?")
    return ExpiringValue(token, now + int(seconds))


def _digits(number: int | str) -> str:
    """The number as a text; empty if it is none, such as a date."""
    digits = str(number)
    return digits if digits.isascii() and digits.isdecimal() else ""


def _assertion_fields(assertion: str) -> Mapping[str, str]:
    return {"client_assertion_type": _ASSERTION, "client_assertion": assertion}


async def _request_token(
    http: Http, application: Application, proof: Mapping[str, str], now: Callable[[], float]
) -> ExpiringValue[SecretBytes]:
    fields = {
        "grant_type": "client_credentials",
        "client_id": application.client_id,
        "scope": f"{application.resource}/.default",
        **proof,
    }
    doing = f"logging in by {application.fields.method} as application {application.client_id}"
    answer = await http.request("POST", application.url, doing=doing, body=form_body(fields), accept=_REFUSED)
    if answer.status in _REFUSED:
        raise _error_of(answer, application.fields)
    return token_of(answer, now())


def _error_of(answer: Answer, fields: LoginFields) -> SyncError:
    """The error for a refused login. Only Entra's codes and those of RFC 6749 are quoted, never its text."""
    failure = answer.decode_if(_Failure) or _Failure()
    known = [code for code in failure.error_codes if code in _CODES]
    numbers = [f"AADSTS{code}" for code in (known or failure.error_codes)[:1]]
    status = ", ".join([f"HTTP {answer.status}", *numbers])
    if failure.error == _DOWN or _DOWN_CODE in failure.error_codes:
        return Unavailable(f"{answer.doing}: Microsoft Entra ID is down for the moment ({status})")
    part, hint = _CODES[known[0]] if known else _WORDS.get(failure.error, _UNKNOWN)
    if not (numbers or failure.error):  # the answer of a proxy, perhaps
        part, hint = "tenant", "is there a proxy between?"
    return RefusedLogin(
        f"{answer.doing}: Microsoft Entra ID refuses ({status})",
        hint=f"check {getattr(fields, part)}: {hint}",
    )
