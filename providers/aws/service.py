"""The common part of the clients of the three services: calls of the SDK, errors, tags, writing, probing.

Only `syncret.providers.aws.sdk` imports the SDK, and only when a store is opened.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol

from syncret.providers.contract import Paced, Readiness, Writer
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit import paging
from syncret.providers.kit.auth.refused import RefusedLogin
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery


class Absent(Malformed):
    """The entry does not exist. A caller for whom absence is data catches it."""


class Forbidden(Denied):
    """The credentials are valid, and do not allow the call."""


class RefusedKeys(RefusedLogin):
    """AWS does not accept the credentials; `wrong` is what to check first below `auth.secretRef`."""

    wrong: ClassVar[str] = "accessKeyIDSecretRef"


class WrongSignature(RefusedKeys):
    """The secret access key does not belong to the ID."""

    wrong = "secretAccessKeySecretRef"


class Expired(RefusedKeys):
    """The credentials have expired."""

    wrong = "sessionTokenSecretRef"


class Api(Protocol):
    """One service of one region, called with one set of credentials."""

    async def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        """The result of one call; `operation` in snake case (`get_secret_value`). Raises SyncError."""
        ...

    async def look_up(self, operation: str, **parameters: object) -> dict[str, Any] | None:
        """The same; None if AWS says that there is no such thing."""
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


def entries(
    api: Api,
    operation: str,
    parameters: Mapping[str, object],
    paced: Paced = unpaced,
    *,
    members: Sequence[str],
    token: str = "NextToken",
    most: int = paging.MOST_LISTED,
) -> AsyncGenerator[dict[str, Any], None]:
    """The entries of all pages of a list: what its `members` hold. Raises SyncError, also beyond `most`.

    `token` is the member that leads to the next page.
    """

    async def read(found: str) -> paging.Page[dict[str, Any]]:
        more = {token: found} if found else {}
        page = await api.call(operation, **parameters, **more)
        listed = [entry for member in members for entry in page.get(member) or ()]
        return paging.Page(listed, page.get(token) or "")

    return paging.pages(read, paced, doing=operation, most=most)


class Service:
    """Writes and probes. The store's prefix is put before every name that is written."""

    def __init__(
        self, api: Api, writer: Writer, *, prefix: str, login: Callable[[], Awaitable[object]]
    ) -> None:
        self._api = api
        self._writer = writer
        self._prefix = prefix
        self._login = login

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
