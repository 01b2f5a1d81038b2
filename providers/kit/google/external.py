"""External accounts: a token of another issuer is exchanged for one of Google, maybe of a service account.

The token to exchange comes from a file, a URL, or AWS: the credential sources of an external account's
configuration. Executable sources are not supported.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import quote

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import ReadFile
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth import aws_requests
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.auth.refused import login_by
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.tokens import TOKEN_TYPE_JWT, Access, Exchange, exchange_token, impersonate
from syncret.providers.kit.http import Http
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

SubjectToken: TypeAlias = Callable[[], Awaitable[str]]
"""Gets the token to exchange."""

TOKEN_TYPE_AWS: Final = "urn:ietf:params:aws:token-type:aws4_request"

_VERIFY: Final = "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"
_SESSION_SECONDS: Final = "300"


class _Format(msgspec.Struct):
    type: str = "text"
    subject_token_field_name: str = ""


class CredentialSource(msgspec.Struct):
    """The `credential_source` of Google's configuration files."""

    file: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    format: _Format = msgspec.field(default_factory=_Format)
    environment_id: str = ""
    region_url: str = ""
    regional_cred_verification_url: str = _VERIFY
    imdsv2_session_token_url: str = ""
    executable: object = None
    certificate: object = None


class AwsKeys(NamedTuple):
    """Credentials of AWS. They are not sent to Google, which gets a signed request instead."""

    access_key: str
    secret_key: SecretBytes
    session_token: SecretBytes
    region: str


def from_source(
    source: CredentialSource,
    audience: str,
    http: Http,
    *,
    aws_keys: Callable[[CredentialSource], Awaitable[AwsKeys]],
    read_file: ReadFile,
    now: Callable[[], float],
) -> SubjectToken:
    """The function that gets the token. Raises Malformed for a source that is not one of the three.

    `aws_keys` gets the keys of the daemon's own machine at AWS.
    """
    if source.executable is not None or source.certificate is not None:
        raise Malformed(
            "credential_source: programs and certificates are not supported",
            hint="use file, url or environment_id",
        )
    if source.environment_id:

        async def signed() -> str:
            return signed_by(
                await aws_keys(source), audience, now(), url=source.regional_cred_verification_url
            )

        return signed
    if source.file:
        return partial(_from_file, source, read_file)
    if source.url:
        return partial(_from_url, source, http)
    raise Malformed("credential_source is empty", hint="write file, url or environment_id into it")


def signed_by(keys: AwsKeys, audience: str, now: float, *, url: str = _VERIFY) -> str:
    """A signed GetCallerIdentity request, which Google passes on to AWS."""
    url = url.replace("{region}", keys.region)
    headers = aws_requests.signed(
        url,
        "",
        {"x-goog-cloud-target-resource": audience},
        access_key=keys.access_key,
        secret_key=keys.secret_key.raw.decode("utf-8", "replace"),
        session_token=keys.session_token.raw.decode("utf-8", "replace"),
        region=keys.region,
        now=now,
    )
    request: Json = {
        "url": url,
        "method": "POST",
        "headers": [{"key": name.lower(), "value": value} for name, value in headers.items()],
    }
    return quote(gojson.marshal(request, Work(), escape_html=False), safe="")


async def _from_file(source: CredentialSource, read_file: ReadFile) -> str:
    return _formatted(source, read_file(source.file, what="subject token").raw)


async def _from_url(source: CredentialSource, http: Http) -> str:
    answer = await http.request(
        "GET", source.url, doing="getting the token to exchange at Google", headers=source.headers
    )
    return _formatted(source, answer.body)


def _formatted(source: CredentialSource, content: bytes) -> str:
    text = content.decode("utf-8", "replace").strip()
    if source.format.type != "json":
        return text
    token = None
    with suppress(Malformed):
        token = gojson.unmarshal_object(content, Work()).get(source.format.subject_token_field_name)
    if not isinstance(token, str) or not token:
        raise Malformed(
            "the token to exchange is not where credential_source.format says",
            hint="subject_token_field_name must name a member of the JSON object that is read",
        )
    return token


EXTERNAL: Final = "external_account"


class _Impersonation(msgspec.Struct):
    token_lifetime_seconds: int = 0


class ExternalAccount(msgspec.Struct):
    """A configuration file as `gcloud iam workload-identity-pools create-cred-config` writes it."""

    audience: str = ""
    subject_token_type: str = TOKEN_TYPE_JWT
    token_url: str = ""
    token_info_url: str = ""
    service_account_impersonation_url: str = ""
    service_account_impersonation: _Impersonation = msgspec.field(default_factory=_Impersonation)
    client_id: str = ""
    client_secret: str = ""
    quota_project_id: str = ""
    workforce_pool_user_project: str = ""
    credential_source: CredentialSource = msgspec.field(default_factory=CredentialSource)
    type: str = ""


def read_account(document: SecretBytes, place: str) -> ExternalAccount:
    """Decode a configuration file. Raises Malformed; `place` says where it was read."""
    account = None
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        account = msgspec.json.decode(document.raw, type=ExternalAccount)
    if account is None or account.type != EXTERNAL:
        raise Malformed(
            f"{place} holds no configuration of an external account",
            hint="gcloud iam workload-identity-pools create-cred-config writes one",
        )
    return account


@dataclass(frozen=True, slots=True)
class ExternalAccountLogin:
    """A Login by token exchange."""

    account: ExternalAccount
    subject: SubjectToken
    http: Http
    endpoints: Endpoints
    now: Callable[[], float]
    method: str
    audience_field: str
    """What to check if Google refuses the exchange."""
    account_field: str
    """What to check if the service account cannot be impersonated."""

    async def __call__(self) -> ExpiringValue[Access]:
        account = self.account
        url = (
            self.endpoints.with_overrides(account.token_url)
            if account.token_url
            else f"{self.endpoints.sts}/v1/token"
        )
        wanted = Exchange(
            account.audience,
            await self.subject(),
            account.subject_token_type or TOKEN_TYPE_JWT,
            account.client_id,
            account.client_secret,
            _options(account),
        )
        doing = "exchanging a token of another issuer at Google"
        with login_by(self.method, self.audience_field):
            token = await exchange_token(self.http, url, wanted, doing=doing, now=self.now())
        if account.service_account_impersonation_url:
            seconds = account.service_account_impersonation.token_lifetime_seconds
            target = self.endpoints.with_overrides(account.service_account_impersonation_url)
            with login_by(self.method, self.account_field):
                token = await impersonate(self.http, target, token.value, seconds=seconds or 3600)
        return ExpiringValue(token.value._replace(quota_project=account.quota_project_id), token.expires)


def _options(account: ExternalAccount) -> str:
    project = account.workforce_pool_user_project
    if not project or account.client_id:
        return ""
    return msgspec.json.encode({"userProject": project}).decode()
