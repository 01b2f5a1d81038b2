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
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Http
from syncret.providers.kit.references import read_given, read_text
from syncret.providers.kit.rest.api import Refusals
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Headers, LoggedIn
from syncret.providers.kit.rest.logins import already_made
from syncret.providers.values import SecretBytes


class _Failure(msgspec.Struct):
    description: str


_NOT_DELETED: Final = {
    "Not Found. Provided secret id is invalid": (
        "the key is no ID of a secret",
        "write the UUID of the secret, or the address that ends with it",
    ),
    "Not Found. Sorry but your secret has no payload": (
        "the secret has no payload",
        "store one, or the ID of another secret as the key",
    ),
}
"""The 404s of Barbican that do not say that a secret was deleted: problem and remedy."""


def _is_absent(answer: Answer) -> bool:
    """Raises Malformed for the other 404s of Barbican."""
    failure = answer.decode_if(_Failure)
    description = "" if failure is None else failure.description
    for words, (problem, hint) in _NOT_DELETED.items():
        if description.startswith(words):
            raise Malformed(f"{answer.doing}: {problem}", hint=hint)
    return description.startswith("Secret not found")


_REFUSALS: Final = Refusals(
    vendor="Barbican", check="does Keystone's catalog lead to Barbican?", is_absent=_is_absent
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
