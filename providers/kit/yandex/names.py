"""The names in a folder, page by page: what a search looks at."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.providers.contract import Paced
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches, Page, has_tags, pages
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import FindQuery, SecretBytes, SecretMap
from syncret.providers.work import Work

if TYPE_CHECKING:  # imports asyncio and TLS
    from collections.abc import Awaitable, Callable

    from syncret.providers.kit.rest.api import Api

_PAGE: Final = 1000

UNREADABLE: Final = frozenset({"CREATING", "INACTIVE", "VALIDATING", "INVALID"})
"""Statuses of secrets, and of certificates, that have nothing to read."""


class Named(msgspec.Struct):
    """A resource in a list."""

    name: str = ""
    labels: dict[str, str] = {}
    status: str = ""


class _Secrets(msgspec.Struct, rename="camel"):
    secrets: list[Named] = []
    certificates: list[Named] = []
    next_page_token: str = ""


class Folder:
    """The resources of one folder."""

    def __init__(self, api: "Api", listing: Endpoint, folder: str) -> None:
        self._api = api
        self._listing = listing
        self._folder = folder

    async def find(
        self,
        query: FindQuery,
        read: "Callable[[str], Awaitable[SecretBytes | None]]",
        paced: Paced,
        work: Work,
    ) -> SecretMap:
        """The values of all whose name matches, and that have the labels. Raises SyncError.

        What is deactivated, or not issued yet, is passed over: one of these would end every search.
        """
        if not self._folder:
            raise Malformed(
                "a store whose keys are IDs has no folder to search", hint="write fetching.byName"
            )
        if query.path is not None:
            raise Malformed("names in Yandex Cloud have no path", hint="write find.name.regexp, or tags")
        matches, found = regexp.matcher(query.name or "", work), Matches()
        async for each in self._list(paced):
            readable = each.name and each.status not in UNREADABLE
            if readable and matches(each.name) and has_tags(each.labels, query.tags):
                found.add_name(each.name)
        return await found.read_values(read, paced, doing="yandex find")

    def _list(self, paced: Paced) -> AsyncGenerator[Named, None]:
        async def page(token: str) -> Page[Named]:
            params = {"folderId": self._folder, "pageSize": str(_PAGE)}
            answer = await self._api.call(self._listing, params={**params, "pageToken": token})
            listed = answer.decode(_Secrets)
            return Page([*listed.secrets, *listed.certificates], listed.next_page_token)

        return pages(page, paced, doing=self._listing.doing)
