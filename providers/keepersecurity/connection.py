"""Opens a store: as the device whose configuration a Secret holds."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from syncret.providers.contract import OpenContext
from syncret.providers.keepersecurity.client import KeeperClient
from syncret.providers.keepersecurity.configuration import read_device
from syncret.providers.keepersecurity.protocol import REFUSALS, Calls
from syncret.providers.keepersecurity.push import Pusher
from syncret.providers.keepersecurity.spec import KeeperSpec
from syncret.providers.keepersecurity.vault import Vault
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders


@asynccontextmanager
async def open_store(spec: KeeperSpec, context: OpenContext) -> AsyncGenerator[KeeperClient, None]:
    """A client; the first call shows whether the device is known. Raises SyncError."""
    device = read_device(await read_text(context, spec.auth_ref, "authRef"), "authRef")
    identity = FixedHeaders({})  # each request is signed by itself
    async with connected(device.url, context, identity, REFUSALS) as api:
        vault = Vault(Calls(device, api, context.compute))
        pusher = Pusher(vault, spec.folder_id)
        yield KeeperClient(vault, pusher, by_title=spec.get_by_title_fallback)
