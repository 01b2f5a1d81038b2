"""The generator Grafana: a token of a Grafana service account, deleted when it is replaced."""

from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import uuid4

import msgspec
from msgspec import Meta

from syncret.config.catalog import SpecType
from syncret.config.fields import Int64, Model, Name, SecretKey, SecretKeySelector
from syncret.config.meta import Document
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import SecretBytes

if TYPE_CHECKING:  # imports TLS
    from syncret.providers.kit.http import Http
    from syncret.providers.kit.rest.api import Api
    from syncret.providers.kit.rest.identities import Identity

_GRANT: Final = "the user needs the role Admin, or the permission serviceaccounts:write"
_ACCOUNTS: Final = "/api/serviceaccounts"

SEARCH: Final = Endpoint("GET", f"{_ACCOUNTS}/search", "looking for service account {name}", _GRANT)
CREATE: Final = Endpoint("POST", _ACCOUNTS, "creating service account {name}", _GRANT)
ISSUE: Final = Endpoint(
    "POST", f"{_ACCOUNTS}/{{account}}/tokens", "creating a token of service account {name}", _GRANT
)
DELETE: Final = Endpoint(
    "DELETE", f"{_ACCOUNTS}/{{account}}/tokens/{{token}}", "deleting token {token}", _GRANT
)


class GrafanaSecretKey(Model):
    """One key of one Secret in the generator's own namespace.

    Example: {name: grafana-admin, key: token}
    """

    name: Name = ""
    """Name of the Secret. Example: grafana-admin"""
    key: SecretKey = ""
    """The key in it. Example: token"""


class GrafanaBasic(Model):
    """User name and password.

    Example: {username: admin, password: {name: grafana-admin, key: password}}
    """

    username: str
    """Name of the user. Example: admin"""
    password: GrafanaSecretKey
    """The Secret key with the password."""


class GrafanaAuth(Model):
    """How the generator authenticates; the user must be allowed to create service accounts.

    Example: {token: {name: grafana-admin, key: token}}
    """

    token: GrafanaSecretKey | None = None
    """The Secret key with a token; it wins over `basic`."""
    basic: GrafanaBasic | None = None
    """A user and a password."""


class GrafanaServiceAccount(Model):
    """The account that the tokens belong to; created if it does not exist, and never deleted.

    Example: {name: dashboards, role: Viewer}
    """

    name: str
    """Name of the account. Example: dashboards"""
    role: str
    """The basic role of an account that is created: Viewer, Editor, Admin or None. Example: Viewer"""
    seconds_to_live: Annotated[Int64, Meta(ge=1)] | None = None
    """The lifetime of the token; absent: it is valid until it is replaced. Some installations require it.
    Example: 86400"""


class GrafanaSpec(Model):
    """A new token of one service account.

    Example: {url: 'https://grafana.example.com', auth: {token: {name: grafana-admin, key: token}},
    serviceAccount: {name: dashboards, role: Viewer}}
    """

    url: str
    """Address of Grafana. Example: https://grafana.example.com"""
    auth: GrafanaAuth
    """Who creates the token."""
    service_account: GrafanaServiceAccount
    """Whose token it is."""


class _Account(msgspec.Struct):
    id: int
    login: str
    name: str = ""


class _Found(msgspec.Struct, rename="camel"):
    service_accounts: list[_Account]


class _Issued(msgspec.Struct):
    id: int
    key: str


class _TokenOf(msgspec.Struct):
    id: int
    token_id: int = msgspec.field(name="tokenID")


class _State(msgspec.Struct, rename="camel"):
    service_account: _TokenOf


class _Failure(msgspec.Struct):
    message: str = ""


async def generate(spec: GrafanaSpec, context: OpenContext) -> Generated:
    """A token with a name of its own, of the account that is there or made now."""
    wanted = spec.service_account
    async with _opened(spec, context) as api:
        account = await _account(wanted, api)
        body: dict[str, Any] = {"name": str(uuid4())}
        if wanted.seconds_to_live:
            body["secondsToLive"] = wanted.seconds_to_live
        answer = await api.call(ISSUE, body=body, account=str(account.id), name=wanted.name)
        issued = answer.decode(_Issued)
    values = {"login": account.login, "token": issued.key}
    return Generated(
        {name: SecretBytes(value.encode()) for name, value in values.items()},
        state={"serviceAccount": {"id": account.id, "login": account.login, "tokenID": issued.id}},
    )


async def cleanup(spec: GrafanaSpec, state: Document, context: OpenContext) -> None:
    """Delete the token, not the account; one that is gone is no error."""
    held = msgspec.convert(state, _State).service_account
    async with _opened(spec, context) as api:
        await api.look_up(DELETE, account=str(held.id), token=str(held.token_id))


async def _account(wanted: GrafanaServiceAccount, api: "Api") -> _Account:
    answer = await api.call(SEARCH, params={"query": wanted.name}, name=wanted.name)
    for each in answer.decode(_Found).service_accounts:
        if each.name == wanted.name:
            return each
    body = {"name": wanted.name, "role": wanted.role}
    return (await api.call(CREATE, body=body, name=wanted.name)).decode(_Account)


@asynccontextmanager
async def _opened(spec: GrafanaSpec, context: OpenContext) -> "AsyncGenerator[Api, None]":
    from syncret.providers.kit.references import read_trimmed
    from syncret.providers.kit.rest.api import Refusals, says  # imports asyncio and TLS
    from syncret.providers.kit.rest.connection import connected
    from syncret.providers.kit.rest.identities import FixedHeaders

    async def text(selected: GrafanaSecretKey, path: str) -> str:
        selector = SecretKeySelector(name=selected.name, key=selected.key)
        return await read_trimmed(context, selector, path)

    async def identify(_http: "Http") -> "Identity":
        auth = spec.auth
        if auth.token is not None:
            return FixedHeaders({"Authorization": f"Bearer {await text(auth.token, 'auth.token')}"})
        if auth.basic is not None:
            password = await text(auth.basic.password, "auth.basic.password")
            pair = b64encode(f"{auth.basic.username}:{password}".encode()).decode()
            return FixedHeaders({"Authorization": f"Basic {pair}"})
        raise Malformed("no auth configuration found", hint="write auth.token, or auth.basic")

    gone = says(_Failure, lambda failure: "not found" in failure.message.lower())
    refusals = Refusals(vendor="Grafana", check="does url lead to Grafana?", is_absent=gone)
    async with connected(spec.url, context, identify, refusals) as api:
        yield api


GENERATOR: Final = Generator(SpecType("Grafana", GrafanaSpec), generate=generate, cleanup=cleanup)
