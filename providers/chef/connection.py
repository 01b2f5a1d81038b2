"""Opens a store: the key that requests are signed with."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import msgspec

from syncret.providers.chef.client import ChefClient
from syncret.providers.chef.signing import SignedRequests
from syncret.providers.chef.spec import ChefSpec
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth import jwt
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals, bad_signature, says
from syncret.providers.kit.rest.connection import connected


class _Failure(msgspec.Struct):
    """Most errors of Chef are lists of texts; those about users are one text."""

    error: list[str] | str


def _is_absent(failure: _Failure) -> bool:
    if isinstance(failure.error, str):
        return failure.error.startswith(("Could not find user ", "Cannot find a user "))
    return any("data bag" in text for text in failure.error)


_REFUSALS: Final = Refusals(
    vendor="Chef",
    check="does serverUrl end with the organization and a slash?",
    is_absent=says(_Failure, _is_absent),
    errors={401: bad_signature("username and auth.secretRef.privateKeySecretRef")},
)


@asynccontextmanager
async def open_store(spec: ChefSpec, context: OpenContext) -> AsyncGenerator[ChefClient, None]:
    """A client that signs as the store's user. Raises SyncError."""
    selector = spec.auth.secret_ref.private_key_secret_ref
    path = "auth.secretRef.privateKeySecretRef"
    pem = (await read_text(context, selector, path)).encode()
    key = await context.compute(lambda work: jwt.private_key(pem, work))
    if key is None:
        raise Malformed(
            f'key "{selector.key}" of Secret "{selector.name}" holds no RSA key',
            hint="store the .pem file of the user, without a password",
        )

    identity = SignedRequests(spec.username, key, urlsplit(spec.server_url).path.rstrip("/"), context.now)
    async with connected(spec.server_url, context, identity, _REFUSALS) as api:
        yield ChefClient(spec.username, api, context.compute)
