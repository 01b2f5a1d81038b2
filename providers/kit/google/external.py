"""External accounts: a token of another issuer for one of Google's, and maybe of a service account then."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec

from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Malformed
from syncret.providers.kit.credentials import Lease
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.sources import CredentialSource, SubjectToken
from syncret.providers.kit.google.tokens import TOKEN_TYPE_JWT, Access, Exchange, exchanged, impersonated
from syncret.providers.kit.http import Http

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
    """Raises Malformed for what is no such file; `place` is where it was read."""
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
class Federated:
    """A Login by exchange."""

    account: ExternalAccount
    subject: SubjectToken
    http: Http
    endpoints: Endpoints
    now: Callable[[], float]

    async def __call__(self) -> Lease[Access]:
        account = self.account
        url = (
            self.endpoints.moved(account.token_url) if account.token_url else f"{self.endpoints.sts}/v1/token"
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
        lease = await exchanged(self.http, url, wanted, doing=doing, now=self.now())
        if account.service_account_impersonation_url:
            seconds = account.service_account_impersonation.token_lifetime_seconds
            target = self.endpoints.moved(account.service_account_impersonation_url)
            lease = await impersonated(self.http, target, lease.value, seconds=seconds or 3600)
        return Lease(lease.value._replace(quota_project=account.quota_project_id), lease.expires)


def _options(account: ExternalAccount) -> str:
    project = account.workforce_pool_user_project
    if not project or account.client_id:
        return ""
    return msgspec.json.encode({"userProject": project}).decode()
