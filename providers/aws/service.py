"""What the clients of the three services share: the call of the SDK with its errors, tags, writing, probing.

Only `syncret.providers.aws.sdk` imports the SDK, and only when a store is opened.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from syncret.providers.contract import FindQuery, Paced, PushItem, Readiness, RemoteTarget, Writer
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced


class Absent(Malformed):
    """The entry does not exist. A caller for whom absence is data catches it."""


class Forbidden(Denied):
    """The credentials are valid, and do not allow the call."""


class Expired(Denied):
    """The credentials have expired."""


class Api(Protocol):
    """One service of one region, called with one set of credentials."""

    async def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        """The result of one call; `operation` in snake case (`get_secret_value`). Raises SyncError."""
        ...


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Tags as AWS expects them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def tag_map(tags: list[dict[str, str]] | None) -> dict[str, str]:
    """Tags of an AWS response, by key."""
    return {tag["Key"]: tag.get("Value", "") for tag in tags or ()}


def obsolete_tags(current: dict[str, str], wanted: dict[str, str]) -> list[str]:
    """The keys of tags to remove; AWS's own cannot be removed."""
    return [key for key in current if key not in wanted and not key.startswith("aws:")]


def check_query(query: FindQuery) -> None:
    """Raises Malformed for an empty search, which would match the whole account."""
    if query.name is None and not query.tags and not query.path:
        raise Malformed(
            "unexpected find operator", hint="write find.name.regexp, find.tags or find.path, or several"
        )


async def pages(
    api: Api,
    operation: str,
    parameters: Mapping[str, object],
    paced: Paced = unpaced,
    *,
    token: str = "NextToken",
) -> AsyncIterator[dict[str, Any]]:
    """Every page of a list; `token` is the member that leads to the next one. Raises SyncError."""
    wanted = dict(parameters)
    while True:
        page = await paced(partial(api.call, operation, **wanted))
        yield page
        if not page.get(token):
            return
        wanted[token] = page[token]


class Service:
    """Writes and probes. The store's prefix is put before every name that is written."""

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
