"""A client of a Vault server: all requests of a store share one token, which is renewed or replaced in time.

Entering the block logs in; an expired or revoked token is replaced later. Leaving the block revokes a token
that we created, unless it owns leases, since delivered credentials would be revoked with it. Until then
leases are renewed.
"""

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

from syncret.config.fields import Json
from syncret.providers.contract import LogIn
from syncret.providers.errors import Denied, SyncError
from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue
from syncret.providers.kit.http import Unauthenticated
from syncret.providers.kit.vault import requests
from syncret.providers.kit.vault.replies import Absent, Refused, Rejected, Reply, number
from syncret.providers.kit.vault.tokens import LeaseRenewer, Login, Token, header, missing_token, token_of
from syncret.providers.kit.vault.wire import Adapter, Wire, require
from syncret.providers.values import SecretBytes

_LOOKUP_LIFETIME: Final = 5.0
"""Seconds for which a token that was found valid is not looked up again."""

_MIN_RENEWED_SHARE: Final = 3
"""Near a token's maximum TTL, renewals get shorter: below a third of the first lifetime, log in instead."""


class Vault:
    """Requests with a token. Use it as a context manager.

    Args:
        wire: sends requests; its `http` must be open.
        login: how to log in; None sends no token, for a proxy that adds its own.
        namespace: Vault's namespace of the requests.
        auth_namespace: Vault's namespace of the login and the token.
        now: the wall clock.
        log_in: that of the context.
    """

    def __init__(
        self,
        wire: Wire,
        login: Login | None,
        *,
        namespace: str,
        auth_namespace: str,
        now: Callable[[], float],
        log_in: LogIn,
    ) -> None:
        self._wire = wire
        self._login = login
        self._namespace = namespace
        self._auth_namespace = auth_namespace
        self._now = now
        self._tokens = ExpiringLogin(self._token, now=now, log_in=log_in)
        self._looked_up: tuple[Token, float] | None = None
        self._lookup_lock = asyncio.Lock()
        self._replaced_invalid_token = False
        self._lookup_forbidden = False
        self._owns_leases = False
        self._leases = LeaseRenewer(self._renew_lease)

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
        """The response to one request; `path` is quoted and relative to /v1.

        With `wrapped` a wrapped response is not unwrapped. Raises SyncError; Denied if the token's
        policies do not allow the request.
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
                return await self._keep_leases(found, path, doing, wrapped=wrapped)
            raise await self._explain_forbidden(token, doing)

        return await attempt(None) if self._login is None else await self._tokens.use(attempt)

    async def write(self, path: str, body: Json, *, doing: str) -> Reply:
        """As `call`, for a write: the response cannot be absent."""
        return require(await self.call("POST", path, doing=doing, body=body), doing)

    async def _renew_lease(self, lease: str) -> float:
        """Renew a lease with the current token; the leases of a replaced token have ended with it."""
        token = None if self._login is None else await self._tokens.get()
        reply = await requests.renew_lease(self._adapter("renewing a lease", token, self._namespace), lease)
        return self._lease_seconds(reply) if reply.document.get("renewable") is True else 0.0

    async def revoke_lease(self, lease: str) -> None:
        """Revoke a lease, and the credentials that it belongs to."""
        doing = "revoking the lease"
        token = None if self._login is None else await self._tokens.get()
        try:
            return await requests.revoke_lease(self._adapter(doing, token, self._namespace), lease)
        except Refused:
            pass
        raise await self._explain_forbidden(token, doing)

    async def look_up(self) -> Reply:
        """The properties of our token. Raises Denied if it is not valid."""
        doing = "looking up the token"
        token = None if self._login is None else await self._tokens.get()
        try:
            return await requests.look_up(self._adapter(doing, token))
        except Refused:
            pass
        if token is not None:
            self._tokens.drop(token)
        raise self._invalid_token(doing)

    async def __aenter__(self) -> Self:
        if self._login is not None:
            await self._tokens.get()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leases.close()
        token = self._tokens.current
        if token is None or not token.ours or self._owns_leases or self._is_expired(token):
            return
        try:
            await requests.revoke(self._adapter("revoking the token", token))
        except (Refused, Rejected):
            return  # already expired, or of a type that cannot be revoked

    def _adapter(self, doing: str, token: Token | None = None, namespace: str | None = None) -> Adapter:
        target = self._auth_namespace if namespace is None else namespace
        return Adapter(self._wire, doing, token.value if token else "", target)

    async def _keep_leases(
        self, found: Reply | Absent, path: str, doing: str, *, wrapped: bool
    ) -> Reply | Absent:
        if isinstance(found, Absent):
            return found
        reply = found if wrapped else await self._wire.unwrap(found, doing=doing, namespace=self._namespace)
        # These end with our token: a lease, a child token, a wrapped response.
        lease = reply.text("lease_id")
        self._owns_leases = self._owns_leases or bool(lease or reply.part("auth") or reply.part("wrap_info"))
        if lease and reply.document.get("renewable") is True:
            self._leases.track(path, lease, self._lease_seconds(reply))
        return reply

    # -- the token
    async def _token(self) -> ExpiringValue[Token]:
        """The current token, renewed, or a new one."""
        held = self._tokens.current
        token = (
            None
            if held is None or not held.renewable or self._is_expired(held)
            else await self._renew_token(held)
        )
        if token is None:
            token = await self._log_in()
        return ExpiringValue(token, token.expires)

    async def _renew_token(self, held: Token) -> Token | None:
        try:
            reply = await requests.renew(self._adapter("renewing the token", held))
        except (Refused, Rejected):
            return None
        token = token_of(reply.part("auth"), self._now(), held.lifetime)
        return (
            token
            if token.value and token.lifetime <= _MIN_RENEWED_SHARE * self._seconds_left(token)
            else None
        )

    async def _log_in(self) -> Token:
        login = self._login
        if login is None:
            raise RuntimeError("there is no login to log in by")
        status = HTTPStatus.FORBIDDEN
        try:
            found = await login.run(self._adapter(login.doing))
        except Refused:
            found = None
        except Rejected:
            found, status = None, HTTPStatus.BAD_REQUEST
        if found is None:  # raised out here: the cause may quote what was sent
            raise login.refused(status)
        if isinstance(found, SecretBytes):
            return Token(header(found, login.doing))
        auth = found.part("auth")
        token = token_of(auth, self._now())
        if not token.value:
            raise missing_token(login.doing, needs_more=bool(auth.get("mfa_requirement")))
        if self._replaced_invalid_token:
            self._looked_up = token, self._now()
        return token

    def _lease_seconds(self, reply: Reply) -> float:
        """The duration of a lease, which ends with its token at the latest."""
        held = self._tokens.current
        seconds = float(number(reply.document.get("lease_duration")))
        return seconds if held is None else min(seconds, self._seconds_left(held))

    def _seconds_left(self, token: Token) -> float:
        return float("inf") if token.expires is None else token.expires - self._now()

    def _is_expired(self, token: Token) -> bool:
        return self._seconds_left(token) <= 0

    async def _explain_forbidden(self, token: Token | None, doing: str) -> SyncError:
        """The error for a 403, which Vault returns for expired tokens and for missing permissions alike."""
        forbidden = Denied(
            f"{doing}: permission denied",
            hint="a policy of the store's token must allow it, and path in the store must be right",
        )
        if token is None or self._lookup_forbidden:
            return forbidden
        async with self._lookup_lock:  # one lookup for all concurrent calls
            if self._tokens.current is not token:
                return self._invalid_token(doing)
            token_seen, moment = self._looked_up or (None, 0.0)
            if token_seen is token and self._now() - moment <= _LOOKUP_LIFETIME:
                if self._replaced_invalid_token:
                    # A new token is refused too. If it may not look itself up either, lookups are useless.
                    self._replaced_invalid_token = False
                    self._lookup_forbidden = not await self._can_look_up(token, doing)
                return forbidden
            if await self._can_look_up(token, doing):
                self._looked_up = token, self._now()
                return forbidden
            self._replaced_invalid_token = token.ours
            self._tokens.drop(token)
            return self._invalid_token(doing)

    async def _can_look_up(self, token: Token, doing: str) -> bool:
        try:
            await requests.look_up(self._adapter(doing, token))
        except Refused:
            return False
        return True

    def _invalid_token(self, doing: str) -> Unauthenticated:
        return Unauthenticated(
            f"{doing}: the token is not valid (HTTP 403): it is wrong, has expired or was revoked",
            hint=f"{self._login.remedy}, or write a new token there"
            if self._login is not None
            else "the store has no auth: give it one",
        )
