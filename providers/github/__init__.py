"""GitHub Actions secrets, which can be written, not read back; and tokens of an App.

spec          the spec of a store                client      the endpoints, the client of a store
connection    opens a store                      sealed_box  how values are encrypted
access_token  the generator GithubAccessToken    app         the App's key and the tokens of installations
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.github.client import GithubClient
from syncret.providers.github.spec import GithubSpec, published_rate


@asynccontextmanager
async def open_github(spec: GithubSpec, context: OpenContext) -> AsyncGenerator[GithubClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.github.connection import open_store  # imports asyncio and TLS

    async with open_store(spec, context) as client:
        yield client


PROVIDER: Final = Provider(SpecType("github", GithubSpec), open=open_github, published_rate=published_rate)
