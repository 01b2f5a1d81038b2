"""Opens a store: Keystone says where Barbican is, and its token is good there."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import msgspec

from syncret.providers.barbican.client import BarbicanClient
from syncret.providers.barbican.keystone import address, log_in
from syncret.providers.barbican.spec import BarbicanSpec
from syncret.providers.contract import OpenContext
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Http
from syncret.providers.kit.references import read_given, read_text
from syncret.providers.kit.rest.api import Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Headers, LoggedIn
from syncret.providers.kit.rest.logins import already_made
from syncret.providers.values import SecretBytes


class _Failure(msgspec.Struct):
    description: str


_REFUSALS: Final = Refusals(
    vendor="Barbican",
    check="does Keystone's catalog lead to Barbican?",
    is_absent=says(_Failure, lambda failure: failure.description.startswith("Secret not found")),
)


@asynccontextmanager
async def open_store(spec: BarbicanSpec, context: OpenContext) -> AsyncGenerator[BarbicanClient, None]:
    """A client that is logged in. Raises SyncError."""
    user = await read_given(context, spec.auth.username, "auth.username")
    password = await read_text(context, spec.auth.password.secret_ref, "auth.password.secretRef")
    async with Http(address(spec), now=context.now, network=context.network) as keystone:
        login = partial(log_in, spec, user, password, keystone)
        first = await context.log_in(login)

        async def again() -> ExpiringValue[SecretBytes]:
            return (await login()).token

        identity = LoggedIn(already_made(first.token, again), context, headers=_header)
        async with connected(first.barbican, context, identity, _REFUSALS) as api:
            yield BarbicanClient(api)


def _header(token: SecretBytes) -> Headers:
    return {"X-Auth-Token": token.raw.decode("ascii", "replace")}
