"""Opens a store: TLS with the store's certificates, a login, and a client that uses both."""

import re
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.conjur.auth import account_of, choose_login, token_header
from syncret.providers.conjur.client import ConjurClient
from syncret.providers.conjur.spec import ConjurSpec
from syncret.providers.contract import OpenContext
from syncret.providers.kit.http import Http, Tls
from syncret.providers.kit.references import ca_bundle, read_text
from syncret.providers.kit.rest.api import Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity, LoggedIn


class _Error(msgspec.Struct):
    code: str


class _Failure(msgspec.Struct):
    error: _Error


_CLOUD: Final = re.compile(
    r"https://[^/]+(\.secretsmgr|-secretsmanager)\.cyberark\.cloud(:\d+)?/?", re.IGNORECASE
)
"""Addresses of Conjur Cloud without a path."""

_REFUSALS: Final = Refusals(
    vendor="Conjur",
    check="does url lead to the API of Conjur?",
    is_absent=says(_Failure, lambda failure: failure.error.code == "not_found"),
)


def api_url(url: str) -> str:
    """The address of the API: as in the vendor's client, that of Conjur Cloud may lack its `/api`."""
    return f"{url.rstrip('/')}/api" if _CLOUD.fullmatch(url) else url


@asynccontextmanager
async def open_store(spec: ConjurSpec, context: OpenContext) -> AsyncGenerator[ConjurClient, None]:
    """A client that is logged in. Raises SyncError."""
    bundle, certificate, key = spec.ca_bundle, "", ""
    if bundle and bundle.lstrip().startswith("-----BEGIN"):
        bundle = b64encode(bundle.encode()).decode()
    if spec.auth.cert is not None:
        certificate = await read_text(context, spec.auth.cert.client_cert_ref, "auth.cert.clientCertRef")
        key = await read_text(context, spec.auth.cert.client_key_ref, "auth.cert.clientKeyRef")

    async def identify(http: Http) -> Identity:
        return LoggedIn(await choose_login(spec, http, context), context, headers=token_header)

    ca = await ca_bundle(bundle, spec.ca_provider, context)
    tls = Tls(ca=ca, certificate=certificate.encode(), key=key.encode())
    async with connected(api_url(spec.url), context, identify, _REFUSALS, tls=tls) as api:
        yield ConjurClient(account_of(spec), api)
