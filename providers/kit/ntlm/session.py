"""HTTP requests as a user who is authenticated by NTLM."""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from secrets import token_bytes
from typing import Final

from syncret.providers.contract import LogIn
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.http import Answer, Body, Http, Unauthenticated
from syncret.providers.kit.ntlm import messages

_UNAUTHORIZED: Final = 401
_SCHEMES: Final = ("NTLM", "Negotiate")


@dataclass(frozen=True, slots=True)
class Login:
    r"""A user (`DOMAIN\name` or `name`) and the password."""

    user: str
    password: str = field(repr=False)


class NtlmHttp:
    """An `Http` with one connection, which is authenticated when the server asks. One request at a time."""

    def __init__(self, http: Http, login: Login, now: Callable[[], float], log_in: LogIn) -> None:
        self._http = http
        self._login = login
        self._now = now
        self._log_in = log_in
        self._lock = asyncio.Lock()

    async def request(
        self,
        method: str,
        url: str,
        *,
        doing: str,
        headers: Mapping[str, str] | None = None,
        body: Body | None = None,
        accept: Collection[int] = (),
    ) -> Answer:
        """As `Http.request`. The password is proven by NTLM, and never sent, whatever the server offers."""
        wanted = {name: value for name, value in (headers or {}).items() if name.lower() != "authorization"}

        async def ask(authorization: str = "", *, ready: Collection[int] = (_UNAUTHORIZED,)) -> Answer:
            sent = {**wanted, "Authorization": authorization} if authorization else wanted
            return await self._http.request(
                method, url, doing=doing, headers=sent, body=body, accept={*accept, *ready}
            )

        async with self._lock:
            first = await ask()
            if first.status != _UNAUTHORIZED:
                return first
            scheme = _offered(first)
            if not scheme:
                raise Denied(
                    f"{doing}: the server offers no login by NTLM",
                    hint="if it may have the password itself, write a header Authorization, and https",
                )
            last = await self._log_in(partial(self._authenticated, ask, scheme, doing))
        if isinstance(last, SyncError):
            raise last
        return last

    async def _authenticated(
        self, ask: Callable[[str], Awaitable[Answer]], scheme: str, doing: str
    ) -> Answer | SyncError:
        """The answer to the request, or its error, once the user is known. Raises what is wrong with that."""
        try:
            second = await ask(f"{scheme} {_text(messages.negotiate())}")
        except SyncError as error:
            return error
        if second.status != _UNAUTHORIZED:
            return second
        proof = messages.authenticate(
            _challenge(second, scheme),
            self._login.user,
            self._login.password,
            nonce=token_bytes(8),
            now=self._now(),
        )
        try:
            last = await ask(f"{scheme} {_text(proof)}")
        except SyncError as error:
            return error
        if last.status == _UNAUTHORIZED:
            raise Unauthenticated(
                f"{doing}: logging in by NTLM: the server refuses this user (HTTP {last.status})",
                hint="check auth.ntlm.passwordSecret, and usernameSecret: DOMAIN\\name",
            )
        return last


def _offered(answer: Answer) -> str:
    """The first of our schemes that the server offers."""
    offers = answer.headers.get("www-authenticate", "").lower()
    return next((scheme for scheme in _SCHEMES if scheme.lower() in offers), "")


def _challenge(answer: Answer, scheme: str) -> messages.Challenge:
    for offer in answer.headers.get("www-authenticate", "").split(","):
        name, _, text = offer.strip().partition(" ")
        if name.lower() == scheme.lower() and text:
            try:
                message = b64decode(text, validate=True)
            except ValueError:
                break
            return messages.read_challenge(message)
    raise _no_challenge(answer)


def _no_challenge(answer: Answer) -> Denied | Malformed:
    if "www-authenticate" in answer.headers:
        return Malformed(
            f"{answer.doing}: the server offers NTLM, and answers with no challenge",
            hint="is there a proxy between that closes connections? NTLM needs one that is kept",
        )
    return Denied(
        f"{answer.doing}: the server broke the login by NTLM off", hint="does it let this user in by NTLM?"
    )


def _text(data: bytes) -> str:
    return b64encode(data).decode()
