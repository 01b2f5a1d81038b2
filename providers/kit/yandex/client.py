"""The part of a client that all services in Yandex Cloud share."""

from typing import TYPE_CHECKING, Generic, TypeVar

from syncret.providers.contract import Readiness
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.yandex.names import Folder

if TYPE_CHECKING:  # imports asyncio and TLS
    from syncret.providers.kit.rest.api import Api

P = TypeVar("P")


class FolderClient(Versioned, SingleReads[P], Generic[P]):
    """Reads by ID or, in a folder, by name; probes. `lists` is where `listing` is called."""

    converts_keys = False

    def __init__(self, api: "Api", lists: str, listing: Endpoint, folder: str) -> None:
        self._api = api
        self._folder = folder
        self._named = Folder(api, listing._replace(path=f"{lists}{listing.path}"), folder)

    async def probe(self) -> Readiness:
        await self._api.check_login()
        return "ready"
