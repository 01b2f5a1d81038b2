"""Opens a store: an API key or an OAuth client signs in, and the session is a cookie."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.beyondtrust.accounts import AccountsClient
from syncret.providers.beyondtrust.safe import Place, SafeClient, Session
from syncret.providers.beyondtrust.spec import BeyondTrustCredential, BeyondTrustSpec
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied
from syncret.providers.kit.auth.logins import ExpiringValue, bearer
from syncret.providers.kit.http import Http, Tls
from syncret.providers.kit.references import read_given
from syncret.providers.kit.rest.api import Refusals, is_no_page
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Headers, Identity, LoggedIn
from syncret.providers.kit.rest.logins import REFUSED, client_credentials, cookie, session_cookies
from syncret.providers.values import SecretBytes

_REFUSALS: Final = Refusals(
    vendor="Password Safe",
    check="server.apiUrl must end with /BeyondTrust/api/public/v3",
    is_absent=is_no_page,  # the clients do not take it for deleted
)
_CHECK: Final = "check the API key or the client, and from which addresses its registration may be used"


class _User(msgspec.Struct, rename="pascal"):
    user_id: int = 0


@asynccontextmanager
async def open_store(
    spec: BeyondTrustSpec, context: OpenContext
) -> AsyncGenerator[SafeClient | AccountsClient, None]:
    """A client that is signed in. Raises SyncError."""
    server, session = spec.server, Session()

    async def identify(http: Http) -> Identity:
        return await _identity(spec, http, context, session)

    tls = await _tls(spec, context)
    async with connected(server.api_url.strip(), context, identify, _REFUSALS, tls=tls) as api:
        separator = server.separator or "/"
        if (server.retrieval_type or "").upper() == "SECRET":
            place = Place(separator, server.api_version or "", server.decrypt)
            yield SafeClient(api, place, session, context.compute)
        else:
            yield AccountsClient(api, separator)


async def _identity(spec: BeyondTrustSpec, http: Http, context: OpenContext, session: Session) -> Identity:
    auth = spec.auth
    if auth.api_key is not None:
        key = await _read(auth.api_key, "apiKey", context)

        async def authorization() -> Headers:
            return {"Authorization": f"PS-Auth key={key}"}
    else:
        client = await _read(auth.client_id, "clientId", context)
        secret = await _read(auth.client_secret, "clientSecret", context)

        async def authorization() -> Headers:
            url = "/Auth/connect/token"
            token = await client_credentials(http, url, client, secret, context.now, hint=_CHECK)
            return bearer(token.value)

    async def sign_in() -> ExpiringValue[SecretBytes]:
        doing = "signing in to Password Safe"
        headers = {"Accept": "application/json", **await authorization()}
        answer = await http.request("POST", "/Auth/SignAppIn", doing=doing, headers=headers, accept=REFUSED)
        if answer.status in REFUSED:
            raise Denied(f"{doing}: the login is refused (HTTP {answer.status})", hint=_CHECK)
        session.user = answer.decode(_User).user_id
        return ExpiringValue(session_cookies(answer, _REFUSALS.check))

    async def sign_out(cookies: SecretBytes) -> None:
        await http.request("POST", "/Auth/Signout", doing="signing out", headers=cookie(cookies))

    return LoggedIn(sign_in, context, headers=cookie, sign_out=sign_out)


async def _tls(spec: BeyondTrustSpec, context: OpenContext) -> Tls:
    auth, verify = spec.auth, spec.server.verify_ca
    if auth.certificate is None or auth.certificate_key is None:
        return Tls(verify=verify)
    certificate = await _read(auth.certificate, "certificate", context)
    key = await _read(auth.certificate_key, "certificateKey", context)
    return Tls(certificate=f"{certificate}\n".encode(), key=f"{key}\n".encode(), verify=verify)


async def _read(credential: BeyondTrustCredential | None, field: str, context: OpenContext) -> str:
    return await read_given(context, credential or BeyondTrustCredential(), f"auth.{field}")
