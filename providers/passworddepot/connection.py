"""Opens a store: a user logs in, and the token is good until the server ends it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Http
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Headers, Identity, LoggedIn
from syncret.providers.kit.rest.logins import REFUSED
from syncret.providers.passworddepot.client import PasswordDepotClient
from syncret.providers.passworddepot.spec import PasswordDepotSpec
from syncret.providers.values import SecretBytes

_PORT: Final = 8714
_REFUSALS: Final = Refusals(
    vendor="Password Depot", check="host must be that of the Enterprise Server, whose REST API is active"
)


class _Access(msgspec.Struct):
    client_id: str
    access_token: str


@asynccontextmanager
async def open_store(
    spec: PasswordDepotSpec, context: OpenContext
) -> AsyncGenerator[PasswordDepotClient, None]:
    """A client that is logged in. Raises SyncError."""
    path, ref = "auth.secretRef.credentials", spec.auth.secret_ref.credentials
    if ref is None or not ref.name:
        raise Malformed(f"{path} is missing", hint="name a Secret with the keys username and password")
    user = await read_text(context, _key_of(ref, "username"), path)
    password = await read_text(context, _key_of(ref, "password"), path)

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[SecretBytes]:
            doing, sent = "logging in to Password Depot", {"user": user.strip(), "pass": password}
            answer = await http.request("GET", "/login", doing=doing, headers=sent, accept=REFUSED)
            if answer.status in REFUSED:
                raise Denied(
                    f"{doing}: the login is refused (HTTP {answer.status})",
                    hint="check username and password: may the user log in by the REST API?",
                )
            answer.decode(_Access)
            return ExpiringValue(SecretBytes(answer.body))

        return LoggedIn(log_in, context, headers=_headers)

    port = "" if spec.host.rpartition(":")[2].isdecimal() else f":{_PORT}"
    async with connected(f"https://{spec.host}{port}/v1.0", context, identify, _REFUSALS) as api:
        yield PasswordDepotClient(api, spec.database)


def _key_of(ref: SecretKeySelector, key: str) -> SecretKeySelector:
    return msgspec.structs.replace(ref, key=key)


def _headers(access: SecretBytes) -> Headers:
    given = msgspec.json.decode(access.raw, type=_Access)
    return {"access_token": given.access_token, "client_id": given.client_id}
