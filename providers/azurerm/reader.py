"""Calls Azure's secret APIs: a login for each identity, and a token bucket for each that Azure counts."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import msgspec

from syncret.config.fields import Json
from syncret.providers.azurerm.identities import Manager, manager, principal
from syncret.providers.azurerm.picks import picked
from syncret.providers.azurerm.plans import call_of
from syncret.providers.azurerm.refusals import REFUSALS
from syncret.providers.contract import LogIn
from syncret.providers.errors import Malformed, Throttled
from syncret.providers.kit.http import Answer, Http, Timeouts
from syncret.providers.kit.limits import Limiter
from syncret.providers.kit.paging import Page, pages
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.endpoints import Endpoint, literal
from syncret.providers.kit.rest.identities import LoggedIn
from syncret.providers.kit.retry import retried
from syncret.providers.secret_apis import CallIdentity, SecretApisContext, SecretCall
from syncret.providers.values import SecretMap

T = TypeVar("T")

RATE: Final = 25.0
BURST: Final = 250.0
"""Calls a second and at once that Azure allows to one application in one subscription, for reads."""

_LARGEST: Final = 1 << 20
_MOST_ENTRIES: Final = 1000
_MOST_KEPT: Final = 1000
"""Identities, and buckets, that are kept: the oldest goes first, and is made again if it is needed."""


class _Page(msgspec.Struct, rename="camel"):
    value: list[Json] = []
    next_link: str | None = None


@asynccontextmanager
async def open_reader(context: SecretApisContext) -> AsyncGenerator["AzureReader", None]:
    """A reader with connections of its own, to one server: that of the cloud."""
    at = manager()
    timeouts = Timeouts(total=context.timeout)
    async with Http(
        at.endpoint, now=context.now, network=context.network, timeouts=timeouts, largest=_LARGEST
    ) as http:
        yield AzureReader(http, at, context)


@dataclass(frozen=True, slots=True)
class _Logins:
    """The LoginContext of one identity."""

    now: Callable[[], float]
    log_in: LogIn


@dataclass(frozen=True, slots=True)
class _Client:
    """Calls of one identity."""

    principal: str
    version: str
    identity: LoggedIn
    api: Api


class AzureReader:
    """Implements SecretReader."""

    def __init__(self, http: Http, at: Manager, context: SecretApisContext) -> None:
        self._http = http
        self._at = at
        self._context = context
        self._clients: dict[str, _Client] = {}
        self._limiters: dict[tuple[str, str], Limiter] = {}

    async def read(self, call: SecretCall, identity: CallIdentity) -> SecretMap:
        """As in SecretReader."""
        type_, at, api = call_of(call)
        client = await self._client(identity)
        await client.identity.check()  # who cannot log in as this principal must not use up its calls
        limiter = self._limiter(client.principal, at.subscription)
        name = at.path.rpartition("/")[2]
        endpoint = Endpoint(
            "POST",
            f"{at.path}/{api.action}",
            f"asking Azure for {call.api} of {type_.kind} {name}",
            grant=f"grant the identity {_right(type_.type, api.action)} on the resource",
        )
        params = {"api-version": api.version}
        if not api.paged:
            answer = await self._paced(limiter, partial(self._post, client, endpoint, params))
            return picked(answer.json(), api.names)

        async def page(link: str) -> Page[Json]:
            # the link to a page has the parameters
            following = endpoint._replace(method="GET", path=literal(link)) if link else endpoint
            found = (await self._post(client, following, {} if link else params)).decode(_Page)
            if found.next_link and not self._http.is_own_server(found.next_link):
                raise Malformed(f"{endpoint.doing}: the next page is on another server", hint=REFUSALS.check)
            return Page(found.value, found.next_link or "")

        async def paced(request: Callable[[], Awaitable[T]], /, *, reads: int = 0) -> T:
            del reads
            return await self._paced(limiter, request)

        entries = [each async for each in pages(page, paced, doing=endpoint.doing, most=_MOST_ENTRIES)]
        return picked({"value": entries}, api.names)

    async def _client(self, identity: CallIdentity) -> _Client:
        """The client of the identity; a new one if its Secret has changed. Raises SyncError."""
        key = "" if identity.secret is None else str(identity.secret)
        kept = self._clients.get(key)
        if key and kept is not None and kept.version == identity.version:
            return kept
        who = await principal(identity, self._at, self._http, self._context)  # also decides who may
        kept = self._clients.get(key)  # another call may have been faster
        if kept is not None and kept.version == identity.version:
            return kept
        logged_in = LoggedIn(who.login, _Logins(self._context.now, self._context.new_login()))
        made = _Client(who.id, identity.version, logged_in, Api(self._http, logged_in, REFUSALS))
        _keep(self._clients, key, made)
        return made

    def _limiter(self, principal_: str, subscription: str) -> Limiter:
        key = principal_, subscription
        if key not in self._limiters:
            _keep(self._limiters, key, Limiter(RATE, BURST))
        return self._limiters[key]

    async def _paced(self, limiter: Limiter, request: Callable[[], Awaitable[T]]) -> T:
        """The result of a request, once the bucket lets it through; again if there was no answer."""

        async def once() -> T:
            await limiter.take()
            try:
                found = await request()
            except Throttled as error:
                delay = limiter.throttled(error.retry_after)
                raise Throttled(error.message, retry_after=delay) from None
            limiter.succeeded()
            return found

        return await retried(once)

    async def _post(self, client: _Client, endpoint: Endpoint, params: dict[str, str]) -> Answer:
        answer = await client.api.look_up(endpoint, params=params)
        if answer is None:
            raise Malformed(
                f"{endpoint.doing}: Azure does not know the resource",
                hint="was it deleted, or is it in a subscription that the identity does not see?",
            )
        return answer


def _right(type_: str, action: str) -> str:
    """The permission that a role needs; for keys of a rule without the rule's name."""
    *rules, name = action.split("/")
    return "/".join([type_, *rules[:1], name, "action"])


K = TypeVar("K")
V = TypeVar("V")


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    kept.pop(key, None)
    while len(kept) >= _MOST_KEPT:
        del kept[next(iter(kept))]
    kept[key] = value
