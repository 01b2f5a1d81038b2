"""The client of a Yandex Lockbox store: the endpoints, and what it does with them.

https://yandex.cloud/en/docs/lockbox/api-ref/
"""

from typing import TYPE_CHECKING, Final

import msgspec

from syncret.providers.contract import Paced
from syncret.providers.kit.entries import Entries, EntryValues
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.yandex.client import FolderClient
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

if TYPE_CHECKING:  # imports asyncio and TLS
    from syncret.providers.kit.rest.api import Api

_GRANT: Final = "give the service account the role lockbox.payloadViewer for the secret or its folder"
_SEE: Final = "give the service account the role lockbox.viewer for the folder"

READ: Final = Endpoint("GET", "/lockbox/v1/secrets/{id}/payload", "reading secret {id}", _GRANT)
READ_BY_NAME: Final = Endpoint("GET", "/lockbox/v1/secrets:getEx", "reading secret {name}", _GRANT)
LIST: Final = Endpoint("GET", "/lockbox/v1/secrets", "listing secrets", _SEE)


class _Entry(msgspec.Struct, rename="camel"):
    key: str
    text_value: str | None = None
    binary_value: bytes | None = None
    """Base64 in JSON."""


class _Payload(msgspec.Struct):
    entries: list[_Entry] = []


class _NamedPayload(msgspec.Struct):
    entries: dict[str, bytes] = {}


class LockboxClient(EntryValues, FolderClient[Entries]):
    """Reads, finds and probes."""

    def __init__(self, api: "Api", lists: str, folder: str) -> None:
        super().__init__(api, lists, LIST, folder)

    # -- read
    async def fetch_one(self, key: RemoteKey) -> Entries | None:
        params = {"versionId": key.version} if key.version else {}
        if not self._folder:
            answer = await self._api.look_up(READ, params=params, id=key.key)
            found = None if answer is None else answer.decode(_Payload).entries
            return None if found is None else Entries({each.key: _value(each) for each in found})
        params |= {"folderAndName.folderId": self._folder, "folderAndName.secretName": key.key}
        answer = await self._api.look_up(READ_BY_NAME, params=params, name=key.key)
        return None if answer is None else Entries({**answer.decode(_NamedPayload).entries})

    def value(self, payload: Entries, ref: RemoteRef, work: Work) -> SecretBytes | None:
        found = super().value(payload, ref, work)
        if found is None:
            raise missing_property(f"secret {ref.key} has no entry {ref.property}")
        return found

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Secrets of the folder, by name and labels; each as a JSON object."""

        async def read(name: str) -> SecretBytes | None:
            found = await self.read_current(name)
            return None if found is None else found.document(work)

        return await self._named.find(query, read, paced, work)


def _value(entry: _Entry) -> str | bytes:
    return entry.binary_value if entry.binary_value is not None else entry.text_value or ""
