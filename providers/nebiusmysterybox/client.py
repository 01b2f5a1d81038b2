"""The client of a Nebius MysteryBox store: the method, and what it does with it.

https://github.com/nebius/api, nebius/mysterybox/v1/payload_service.proto
"""

from typing import Final

from syncret.providers.contract import Readiness
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.entries import Entries, EntryValues
from syncret.providers.kit.grpc.api import GrpcApi
from syncret.providers.kit.grpc.messages import Message, encoded
from syncret.providers.kit.grpc.methods import Method
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.values import RemoteKey

READ: Final = Method(
    "nebius.mysterybox.v1.PayloadService",
    "Get",
    "reading secret {id}",
    "give the service account the role mysterybox.payload-viewer for the secret or its project",
)


class NebiusClient(Versioned, EntryValues, SingleReads[Entries]):
    """Reads and probes."""

    def __init__(self, api: GrpcApi) -> None:
        self._api = api

    async def fetch_one(self, key: RemoteKey) -> Entries | None:
        request = encoded((1, key.key), (2, key.version))
        answer = await self._api.look_up(READ, request, id=key.key)
        if answer is None:
            return None
        return Entries({entry.text(1): _value(entry) for entry in answer.messages(2)})

    async def probe(self) -> Readiness:
        await self._api.check_login()
        return "ready"


def _value(entry: Message) -> str | bytes:
    binary = entry.raw(13)
    return entry.text(12) if binary is None else binary
