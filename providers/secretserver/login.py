"""Tokens of Secret Server, and of the Delinea Platform, which knows where its vault is.

https://docs.delinea.com/online-help/secret-server/api-scripting/rest-api-reference-download/
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final, NamedTuple

import msgspec

from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringValue, bearer
from syncret.providers.kit.http import Http, form_body
from syncret.providers.kit.rest.logins import log_in_with, oauth_token
from syncret.providers.values import SecretBytes

_PLATFORM: Final = "/identity/api/oauth2/token/xpmplatform"
_HINT: Final = "check username, password and domain; a user of the platform logs in as its client ID"


class Account(NamedTuple):
    """The account of the store; on a platform the ID and secret of a client."""

    user: str
    password: str
    domain: str = ""


class _Connection(msgspec.Struct):
    url: str = ""


class _Vault(msgspec.Struct, rename="camel"):
    connection: _Connection
    is_default: bool = False
    is_active: bool = False


class _Vaults(msgspec.Struct):
    vaults: list[_Vault] = []


async def is_platform(http: Http) -> bool:
    """Whether the address is that of a platform: only Secret Server itself answers a health check here."""
    answer = await http.request(
        "GET",
        "/api/v1/healthcheck",
        doing="asking how Secret Server is",
        accept=(HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN),
    )
    return b"ealthy" not in answer.body


async def server_token(http: Http, account: Account, now: Callable[[], float]) -> ExpiringValue[SecretBytes]:
    """The token of a user of Secret Server. Raises SyncError."""
    fields = {"username": account.user, "password": account.password, "grant_type": "password"}
    if account.domain:
        fields["domain"] = account.domain
    doing = "logging in to Secret Server"
    answer = await log_in_with(http, "/oauth2/token", form_body(fields), doing=doing, hint=_HINT)
    return oauth_token(answer, now)


async def platform_token(
    http: Http, account: Account, now: Callable[[], float]
) -> ExpiringValue[SecretBytes]:
    """The token of a client of the platform. Raises SyncError."""
    fields = {
        "grant_type": "client_credentials",
        "client_id": account.user,
        "client_secret": account.password,
        "scope": "xpmheadless",
    }
    doing = "logging in to the Delinea Platform"
    return oauth_token(await log_in_with(http, _PLATFORM, form_body(fields), doing=doing, hint=_HINT), now)


async def vault_of(http: Http, token: SecretBytes) -> str:
    """The address of the platform's default vault, which is a Secret Server. Raises SyncError."""
    doing = "asking the platform for its vault"
    answer = await http.request("GET", "/vaultbroker/api/vaults", doing=doing, headers=bearer(token))
    for vault in answer.decode(_Vaults).vaults:
        if vault.is_default and vault.is_active and vault.connection.url:
            return vault.connection.url
    raise Malformed(f"{doing}: it has no active default vault", hint="choose one in the platform")
