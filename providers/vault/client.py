"""The client of a Vault store."""

from collections.abc import Sequence

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads, map_concurrently, reading
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import MOST_KEPT, MOST_LISTED, Matches
from syncret.providers.kit.push_options import DelegatedWrites
from syncret.providers.kit.vault import entries as payloads
from syncret.providers.kit.vault.client import Vault
from syncret.providers.kit.vault.entries import Payload
from syncret.providers.kit.vault.key_values import KeyValues
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.vault.push import VaultPusher
from syncret.providers.work import Work


class VaultClient(SingleReads[Payload], DelegatedWrites):
    """Reader, Finder, Writer and Prober of a key-value engine.

    With version v1, other engines that support a plain read can be read too, including those that create
    dynamic credentials.
    """

    converts_keys = False

    def __init__(self, vault: Vault, entries: KeyValues, pusher: VaultPusher, compute: Compute) -> None:
        self._compute = compute
        self._vault = vault
        self._entries = entries
        self._writer = pusher

    def value(self, payload: Payload, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return payloads.value(payload, ref.property, work)

    def fields(self, payload: Payload, ref: RemoteRef, work: Work) -> SecretMap | None:
        return payloads.fields(payloads.value(payload, ref.property, work), work)

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap | None:
        if query.tags is not None and not self._entries.engine.versioned:
            raise Malformed(
                "cannot perform find by tag operations with kv version v1",
                hint="tags are custom metadata, which only engines of version v2 have",
            )
        if not query.path and not self._entries.engine.mount:
            raise Malformed("there is no path to search", hint="set path in the store, or find.path")
        wanted = regexp.matcher(query.name, work) if query.name is not None else None
        tags = query.tags if wanted is None else None
        found = await self._entries.list_below(
            f"{query.path}/" if query.path else "",
            paced,
            wanted=wanted,
            most=MOST_LISTED if tags else MOST_KEPT,
        )
        if found is not None and tags:
            found = await self._tagged(found.names, tags, paced)
        return None if found is None else await found.read_values(self._document, paced, doing="vault search")

    async def probe(self) -> Readiness:
        await self._vault.look_up()
        return "ready"

    async def fetch_one(self, key: RemoteKey) -> Payload | None:
        if key.metadata:
            return await self._metadata(key.key)
        data = (await self._entries.read(key.key, key.version)).data
        return None if data is None else Payload(data)

    async def _metadata(self, key: str) -> Payload | None:
        if not self._entries.engine.versioned:
            raise Malformed(
                "cannot perform metadata fetch operations with kv version v1",
                hint="leave metadataPolicy out, or use an engine of version v2",
            )
        known = await self._entries.metadata(key)
        return None if known is None else Payload(known)

    async def _document(self, key: str) -> SecretBytes | None:
        payload = await self.read_current(key)
        return None if payload is None else SecretBytes(await self._compute(payload.document))

    async def _tagged(self, keys: Sequence[str], tags: Sequence[tuple[str, str]], paced: Paced) -> Matches:
        async def has_tags(key: str) -> bool:
            metadata = await self._entries.metadata(key)
            return metadata is not None and all(metadata.get(name) == value for name, value in tags)

        tagged = Matches()
        for key, matches in await map_concurrently(has_tags, keys, reading(paced), doing="vault search"):
            if matches:
                tagged.add_name(key)
        return tagged
