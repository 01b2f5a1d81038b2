"""The client of an IBM Secrets Manager store."""

from collections.abc import Awaitable, Callable

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.ibm.payloads import Fields, fields_of, value_of
from syncret.providers.ibm.refs import Place, place_of
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


class IbmClient(ApiClient, SingleReads[Fields]):
    """Reads and probes. It neither finds nor pushes, and has no batches.

    As in the operator, a secret that does not exist is an error, not absence, so no `deletionPolicy` applies.
    """

    def __init__(self, api: Api, read: Callable[[Place], Awaitable[dict[str, Json]]]) -> None:
        super().__init__(api)
        self._read = read

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """One secret is one call, including its metadata; the type before an ID does not matter."""
        try:
            place = place_of(ref.key)
        except Malformed:
            return RemoteKey(ref.key)  # `fetch` reports the mistake
        return RemoteKey(place.name if place.is_id else ref.key)

    def value(self, payload: Fields, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return value_of(payload, ref, work)

    def fields(self, payload: Fields, ref: RemoteRef, work: Work) -> SecretMap | None:
        return fields_of(payload, ref, work)

    async def fetch_one(self, key: RemoteKey) -> Fields:
        return Fields(await self._read(place_of(key.key)))
