"""The calls under way on one client, which others may join: reads of a key, and equal searches."""

import asyncio
from collections.abc import Callable, Sequence

from syncret.daemon.engine.calls import CallRequest, Calls
from syncret.daemon.engine.client import LentClient
from syncret.daemon.engine.credentials import HomeCredentials
from syncret.daemon.engine.reads import Payloads, Reads
from syncret.daemon.engine.tasks import join
from syncret.providers.contract import (
    Client,
    Finder,
    FindQuery,
    Keyed,
    Reader,
    RemoteKey,
    RemoteRef,
    SecretMap,
)
from syncret.providers.errors import Malformed


class Line:
    """A client, what it was opened with, and what is under way on it."""

    def __init__(
        self, lent: LentClient, credentials: HomeCredentials, calls: Calls, *, batch_size: int
    ) -> None:
        self.lent = lent
        self.credentials = credentials
        self._calls = calls
        self._tasks = calls.around.tasks
        self._name = str(calls.store)
        self._reader: Reader | None = None
        self.key_of: Callable[[RemoteRef], RemoteKey] = RemoteRef.remote_key
        """What has to be fetched for a ref; known once `reader` was asked for."""
        self._searches: dict[FindQuery, asyncio.Task[SecretMap | None]] = {}
        self.reads = Reads(
            self._fetch,
            size=batch_size,
            window=calls.around.settings.batch_window,
            tasks=self._tasks,
            name=self._name,
        )

    def reader(self, client: Client) -> Reader:
        """The client as one that reads; looked at once, since every read asks. Raises Malformed."""
        if self._reader is None:
            if not isinstance(client, Reader):
                raise Malformed(f"provider {self._calls.provider} cannot read")
            self._reader = client
            if isinstance(client, Keyed):
                self.key_of = client.remote_key
        return self._reader

    async def find(self, client: Finder, query: FindQuery, namespace: str) -> SecretMap | None:
        """All entries that match; one call for all who search for the same at the same time."""
        task = self._searches.get(query)
        if task is None:
            work = self._search(client, query, namespace)
            task = self._searches[query] = self._tasks.start(work, name=f"find {self._name}")
        else:
            self._calls.shared(1)
        return await join(task)

    async def _search(self, client: Finder, query: FindQuery, namespace: str) -> SecretMap | None:
        try:
            async with self.lent:
                request = CallRequest("find", query, namespace)
                return await self._calls.make(request, lambda: client.find(query))
        finally:
            del self._searches[query]

    async def _fetch(self, keys: Sequence[RemoteKey], namespace: str) -> Payloads:
        async with self.lent as client:
            reader = self.reader(client)
            request = CallRequest("read", tuple(keys), namespace)
            return await self._calls.make(request, lambda: reader.fetch(keys))
