"""Opens a store: the server encrypts a token for the account, which sends it back decrypted (GpgAuth).

https://www.passbolt.com/docs/development/authentication/
"""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import unquote_plus, urlencode

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Http, Tls, json_body
from syncret.providers.kit.references import ca_bundle, read_text
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity, LoggedIn
from syncret.providers.kit.rest.logins import REFUSED, cookie, session_cookies
from syncret.providers.passbolt.client import VERSION, PassboltClient
from syncret.providers.passbolt.openpgp import Key, require_library, unlocked
from syncret.providers.passbolt.spec import PassboltSpec
from syncret.providers.values import SecretBytes

_REFUSALS: Final = Refusals(vendor="Passbolt", check="does host lead to Passbolt?")
_LOGIN: Final = f"/auth/login.json?{urlencode(VERSION)}"
_LOGOUT: Final = f"/auth/logout.json?{urlencode(VERSION)}"
_CSRF: Final = f"/users/csrf-token.json?{urlencode(VERSION)}"
_CSRF_COOKIE: Final = re.compile(r"(?:^|, )csrfToken=([^;,\s]*)")
_TOKEN: Final = re.compile(rb"gpgauthv1\.3\.0\|36\|[0-9A-Fa-f-]{36}\|gpgauthv1\.3\.0")
"""The form of tokens that are decrypted for the server: any other text could be a secret."""
_DOING: Final = "logging in to Passbolt"


class _Envelope(msgspec.Struct):
    header: dict[str, object]


@asynccontextmanager
async def open_store(spec: PassboltSpec, context: OpenContext) -> AsyncGenerator[PassboltClient, None]:
    """A client that is logged in. Raises SyncError."""
    require_library()
    armored = await read_text(context, spec.auth.private_key_secret_ref, "auth.privateKeySecretRef")
    passphrase = await read_text(context, spec.auth.password_secret_ref, "auth.passwordSecretRef")
    key = await context.compute(lambda work: unlocked(armored.encode(), passphrase, work))
    if key is None:
        raise Malformed(
            "the private key cannot be unlocked",
            hint="check both Secrets: an armored key, not expired, and its passphrase without a line break",
        )

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[SecretBytes]:
            return ExpiringValue(await _log_in(http, key, context))

        async def log_out(session: SecretBytes) -> None:
            await _log_out(http, session)

        return LoggedIn(log_in, context, headers=cookie, sign_out=log_out)

    tls = Tls(ca=await ca_bundle(spec.ca_bundle, spec.ca_provider, context))
    async with connected(spec.host, context, identify, _REFUSALS, tls=tls) as api:
        yield PassboltClient(api, key, context.compute)


async def _log_in(http: Http, key: Key, context: OpenContext) -> SecretBytes:
    """The cookies of a new session."""
    who = {"keyid": key.fingerprint}
    asked = await _send(http, who)
    armored = unquote_plus(asked.headers.get("x-gpgauth-user-auth-token", "")).replace("\\ ", " ")
    if not armored:
        if asked.status not in REFUSED:
            asked.decode(_Envelope)  # another server would not know of tokens, either
        raise Denied(
            f"{_DOING}: the login is refused", hint="check privateKeySecretRef: is it the account's key?"
        )
    token = await context.compute(lambda work: key.decrypted(armored, work))
    if token is None or not _TOKEN.fullmatch(token):
        raise Malformed(f"{_DOING}: what the server sent is no token for this key", hint=_REFUSALS.check)
    answer = await _send(http, {**who, "user_token_result": token.decode()})
    if answer.headers.get("x-gpgauth-authenticated") != "true":
        raise Denied(f"{_DOING}: the login is refused", hint="is the account still active?")
    return session_cookies(answer, _REFUSALS.check)


async def _log_out(http: Http, session: SecretBytes) -> None:
    """End a session: by POST, which needs a token. A login gives none; a GET sets it as a cookie."""
    asked = await http.request("GET", _CSRF, doing="logging out", headers=cookie(session))
    found = _CSRF_COOKIE.search(asked.headers.get("set-cookie", ""))
    token = found[1] if found else ""
    both = {"Cookie": f"{cookie(session)['Cookie']}; csrfToken={token}", "X-CSRF-Token": token}
    await http.request("POST", _LOGOUT, doing="logging out", headers=both)


async def _send(http: Http, proof: dict[str, str]) -> Answer:
    headers = {"Accept": "application/json"}
    body = json_body({"gpg_auth": proof})
    return await http.request("POST", _LOGIN, doing=_DOING, headers=headers, body=body, accept=REFUSED)
