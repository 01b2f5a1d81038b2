"""Opens a store: HTTP with the store's CA, an identity, and the API that both make."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from syncret.config.fields import CAProvider
from syncret.providers.contract import OpenContext
from syncret.providers.kit.http import Http, Tls
from syncret.providers.kit.references import ca_bundle
from syncret.providers.kit.rest.api import Api, Refusals
from syncret.providers.kit.rest.identities import Identity


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """What the client shows of itself in TLS, as PEM; empty: nothing."""

    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)


@asynccontextmanager
async def connected(
    url: str,
    context: OpenContext,
    identify: Callable[[Http], Awaitable[Identity]],
    refusals: Refusals,
    *,
    bundle: str | None = None,
    provider: CAProvider | None = None,
    client: ClientCertificate = ClientCertificate(),
) -> AsyncGenerator[Api, None]:
    """The API at a URL, logged in; at the end it is logged out. Raises SyncError."""
    ca = await ca_bundle(bundle, provider, context)
    tls = Tls(ca=ca, certificate=client.certificate, key=client.key)
    async with Http(url, tls=tls, now=context.now, network=context.network) as http:
        identity = await identify(http)
        await identity.check()
        try:
            yield Api(http, identity, refusals)
        finally:
            await identity.end()
