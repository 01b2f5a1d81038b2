"""The client of an Azure Key Vault store."""

from syncret.providers.azurekv.api import Api
from syncret.providers.azurekv.objects import SECRET, Found, Place, place_of
from syncret.providers.azurekv.payloads import fields_of, value_of
from syncret.providers.azurekv.push import Pusher
from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches, has_tags
from syncret.providers.kit.push_options import DelegatedWrites
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


class AzureKvClient(SingleReads[Found], DelegatedWrites):
    """Reads, finds, pushes, deletes and probes. No batches: Key Vault has no API for them."""

    converts_keys = False

    def __init__(self, api: Api, compute: Compute) -> None:
        self._api = api
        self._writer = Pusher(api, compute)

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """`NAME` and `secret/NAME` are the same key; one response has the value and its tags."""
        try:
            return RemoteKey(place_of(ref.key).key, ref.version)
        except Malformed:
            return RemoteKey(ref.key, ref.version)  # `fetch` reports the mistake

    def value(self, payload: Found, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return value_of(payload, ref, work)

    def fields(self, payload: Found, ref: RemoteRef, work: Work) -> SecretMap | None:
        return fields_of(payload, ref, work)

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Enabled secrets that match name and tags. A path is ignored, as by the operator."""
        if query.path is not None and query.name is None and not query.tags:
            raise Malformed("Key Vault has no folders", hint="write find.name.regexp or find.tags")
        matches = regexp.matcher(query.name or "", work)
        found = Matches()
        async for item in self._api.list(paced):
            if item.enabled and has_tags(item.tags, query.tags) and matches(item.name):
                found.add_name(item.name)
        return await found.read_values(self._read, paced, doing="azurekv find")

    async def probe(self) -> Readiness:
        await self._api.check_login()
        return "ready"

    async def fetch_one(self, key: RemoteKey) -> Found | None:
        return await self._api.get(place_of(key.key), key.version)

    async def _read(self, name: str) -> SecretBytes | None:
        """The value; None for a secret that was deleted since it was listed."""
        found = await self._api.get(Place(SECRET, name))
        return None if found is None else found.value
