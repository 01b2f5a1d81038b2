"""A Vault server as one store sees it: every request with a token that is good, one login for all of them.

The login happens when the block is entered, and again when the token ran out or was revoked; it is renewed
ahead of its end. Leaving the block revokes a token that we got ourselves, unless it owns leases: what was
delivered would die with it. Until then leases are renewed.
"""

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

from syncret.config.fields import Json
from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Denied, SyncError
from syncret.providers.kit.auth.logins import ExpiringLogin, Lease
from syncret.providers.kit.http import Unauthenticated
from syncret.providers.kit.vault import requests
from syncret.providers.kit.vault.replies import Absent, Refused, Rejected, Reply, number
from syncret.providers.kit.vault.tokens import Leases, Login, Token, header, made, without_token
from syncret.providers.kit.vault.wire import Adapter, Wire, there

_SURE: Final = 5.0
"""Seconds for which a token that was seen to be good is not looked up again."""

_SHORTENED: Final = 3
"""Near the end that Vault sets to a token, renewals grow shorter: below a third of its first life, log in."""


class Vault:
    """Requests with a token. Use it as a context manager.

    Args:
        wire: the way to the server; its `http` must be open.
        login: how to log in; None sends no token, for a proxy that adds its own.
        namespace: Vault's, of the requests.
        home: Vault's namespace of the login and the token.
        now: the wall clock.
    """

    def __init__(
        self, wire: Wire, login: Login | None, *, namespace: str, home: str, now: Callable[[], float]
    ) -> None:
        self._wire = wire
        self._login = login
        self._namespace = namespace
        self._home = home
        self._now = now
        self._tokens = ExpiringLogin(self._token, now=now)
        self._sure: tuple[Token, float] | None = None
        self._judging = asyncio.Lock()
        self._suspected = False
        self._blind = False
        self._leased = False
        self._leases = Leases(self._renew_lease)

    async def call(
        self,
        method: str,
        path: str,
        *,
        doing: str,
        query: Mapping[str, str | tuple[str, ...]] | None = None,
        body: Json = None,
        wrapped: bool = False,
    ) -> Reply | Absent:
        """The answer to one request; `path` is quoted and stands below /v1.

        With `wrapped` an answer that comes wrapped stays so. Raises SyncError; Denied where the token's
        policies do not allow it.
        """

        async def attempt(token: Token | None) -> Reply | Absent:
            try:
                found = await self._wire.send(
                    method,
                    path,
                    doing=doing,
                    token=token.value if token else "",
                    namespace=self._namespace,
                    query=query,
                    body=body,
                )
            except Refused:
                pass
            else:
                return await self._taken(found, path, doing, wrapped=wrapped)
            raise await self._judged(token, doing)

        return await attempt(None) if self._login is None else await self._tokens.use(attempt)

    async def write(self, path: str, body: Json, *, doing: str) -> Reply:
        """As `call`, for a write: nothing can be absent."""
        return there(await self.call("POST", path, doing=doing, body=body), doing)

    async def _renew_lease(self, lease: str) -> float:
        """With the token of now, which is renewed on the way; one that was replaced took its leases along."""
        token = None if self._login is None else await self._tokens.get()
        reply = await requests.renew_lease(self._adapter("renewing a lease", token, self._namespace), lease)
        return self._lasting(reply) if reply.document.get("renewable") is True else 0.0

    async def revoke_lease(self, lease: str) -> None:
        """End a lease, and what was made for it."""
        doing = "revoking the lease"
        token = None if self._login is None else await self._tokens.get()
        try:
            return await requests.revoke_lease(self._adapter(doing, token, self._namespace), lease)
        except Refused:
            pass
        raise await self._judged(token, doing)

    async def look_up(self) -> Reply:
        """What our token is. Raises Denied where it is not good."""
        doing = "looking up the token"
        token = None if self._login is None else await self._tokens.get()
        try:
            return await requests.look_up(self._adapter(doing, token))
        except Refused:
            pass
        if token is not None:
            self._tokens.drop(token)
        raise self._not_good(doing)

    async def __aenter__(self) -> Self:
        if self._login is not None:
            await self._tokens.get()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leases.close()
        token = self._tokens.held
        if token is None or not token.ours or self._leased or self._ended(token):
            return
        try:
            await requests.revoke(self._adapter("revoking the token", token))
        except (Refused, Rejected):
            return  # it is gone already, or is of a kind that cannot be revoked

    def _adapter(self, doing: str, token: Token | None = None, namespace: str | None = None) -> Adapter:
        home = self._home if namespace is None else namespace
        return Adapter(self._wire, doing, token.value if token else "", home)

    async def _taken(self, found: Reply | Absent, path: str, doing: str, *, wrapped: bool) -> Reply | Absent:
        if isinstance(found, Absent):
            return found
        reply = (
            found if wrapped else await self._wire.unwrapped(found, doing=doing, namespace=self._namespace)
        )
        # What hangs on our token: a lease, a token made with it, a wrapped answer.
        lease = reply.text("lease_id")
        self._leased = self._leased or bool(lease or reply.part("auth") or reply.part("wrap_info"))
        if lease and reply.document.get("renewable") is True:
            self._leases.note(path, lease, self._lasting(reply))
        return reply

    # -- the token
    async def _token(self) -> Lease[Token]:
        """The one we hold, renewed, or another."""
        held = self._tokens.held
        token = None if held is None or not held.renewable or self._ended(held) else await self._renewed(held)
        if token is None:
            token = await self._logged_in()
        return Lease(token, token.expires)

    async def _renewed(self, held: Token) -> Token | None:
        try:
            reply = await requests.renew(self._adapter("renewing the token", held))
        except (Refused, Rejected):
            return None
        token = made(reply.part("auth"), self._now(), held.lifetime)
        return token if token.value and token.lifetime <= _SHORTENED * self._left(token) else None

    async def _logged_in(self) -> Token:
        login = self._login
        if login is None:
            raise RuntimeError("there is no login to log in by")
        try:
            found = await login.run(self._adapter(login.doing))
        except (Refused, Rejected):
            found = None
        if found is None:
            raise Denied(f"{login.doing}: Vault refuses it", hint=login.remedy)
        if isinstance(found, SecretBytes):
            return Token(header(found, login.doing))
        auth = found.part("auth")
        token = made(auth, self._now())
        if not token.value:
            raise without_token(login.doing, needs_more=bool(auth.get("mfa_requirement")))
        if self._suspected:
            self._sure = token, self._now()
        return token

    def _lasting(self, reply: Reply) -> float:
        """Seconds of a lease, which ends with the token that it was given to."""
        held = self._tokens.held
        seconds = float(number(reply.document.get("lease_duration")))
        return seconds if held is None else min(seconds, self._left(held))

    def _left(self, token: Token) -> float:
        return float("inf") if token.expires is None else token.expires - self._now()

    def _ended(self, token: Token) -> bool:
        return self._left(token) <= 0

    async def _judged(self, token: Token | None, doing: str) -> SyncError:
        """Why Vault answered 403: it says the same for a token that ended and for a policy that forbids."""
        forbidden = Denied(
            f"{doing}: permission denied",
            hint="a policy of the store's token must allow it, and path in the store must be right",
        )
        if token is None or self._blind:
            return forbidden
        async with self._judging:  # one who asks, for all who were refused together
            if self._tokens.held is not token:
                return self._not_good(doing)
            sure, moment = self._sure or (None, 0.0)
            if sure is token and self._now() - moment <= _SURE:
                if self._suspected:
                    # A new token fares no better. If it may not look itself up, nothing can be learned so.
                    self._suspected = False
                    self._blind = not await self._can_look_up(token, doing)
                return forbidden
            if await self._can_look_up(token, doing):
                self._sure = token, self._now()
                return forbidden
            self._suspected = token.ours
            self._tokens.drop(token)
            return self._not_good(doing)

    async def _can_look_up(self, token: Token, doing: str) -> bool:
        try:
            await requests.look_up(self._adapter(doing, token))
        except Refused:
            return False
        return True

    def _not_good(self, doing: str) -> Unauthenticated:
        return Unauthenticated(
            f"{doing}: the token is not valid: it is wrong, has expired or was revoked",
            hint="write a new token into the Secret that the store names"
            if self._login is not None
            else "the store has no auth: give it one",
        )
