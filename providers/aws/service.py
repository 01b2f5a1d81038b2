"""What the clients of the three services have in common: writing, probing, and what a search must say."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from syncret.providers.aws.api import Api
from syncret.providers.contract import FindQuery, PushItem, Readiness, RemoteTarget, Writer
from syncret.providers.errors import Malformed


def check_query(query: FindQuery) -> None:
    """Raises Malformed for a search that says nothing: it would find all there is in the account."""
    if query.name is None and not query.tags and not query.path:
        raise Malformed(
            "unexpected find operator", hint="write find.name.regexp, find.tags or find.path, or several"
        )


class Service:
    """Writes and probes. The store's prefix stands before every name that is written."""

    def __init__(
        self, api: Api, writer: Writer, *, prefix: str, login: Callable[[], Awaitable[object]]
    ) -> None:
        self._api = api
        self._writer = writer
        self._prefix = prefix
        self._login = login

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._api!r}>"

    async def push(self, item: PushItem) -> None:
        await self._writer.push(replace(item, remote_key=self._prefix + item.remote_key))

    async def delete(self, target: RemoteTarget) -> None:
        await self._writer.delete(self._prefixed(target))

    async def exists(self, target: RemoteTarget) -> bool:
        return await self._writer.exists(self._prefixed(target))

    async def probe(self) -> Readiness:
        await self._login()
        return "ready"

    def _prefixed(self, target: RemoteTarget) -> RemoteTarget:
        return target._replace(remote_key=self._prefix + target.remote_key)
