"""The client of an OpenBao store."""

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.vault import entries as payloads
from syncret.providers.kit.vault.entries import Payload
from syncret.providers.kit.vault.key_values import KeyValues
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


class OpenBaoClient(SingleReads[Payload]):
    """Reader, Finder and Prober of a key-value engine. No Writer: ESO's provider of this name reads only."""

    converts_keys = False

    def __init__(self, entries: KeyValues, compute: Compute) -> None:
        self._entries = entries
        self._compute = compute

    def value(self, payload: Payload, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """A property is the name of a member; ESO's OpenBao provider supports no paths."""
        return payloads.value(payload, ref.property, work, paths=False)

    def fields(self, payload: Payload, ref: RemoteRef, work: Work) -> SecretMap | None:
        return payloads.fields(payloads.value(payload, ref.property, work, paths=False), work)

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        if query.tags is not None or query.name is None:
            problem = "tag based search is not implemented" if query.tags else "a search without a name"
            raise Malformed(problem, hint="this provider finds by name.regexp, within one folder")
        wanted = regexp.matcher(query.name, work)
        folder = f"{query.path.strip('/')}/" if query.path else ""
        found = await self._entries.list_below(
            folder,
            paced,
            wanted=lambda key: not key.endswith("/") and wanted(key.removeprefix(folder)),
            recursive=False,
        )
        if found is None:
            return {}
        values = await found.read_values(self._document, paced, doing="openbao search")
        return {key.removeprefix(folder): value for key, value in values.items()}

    async def probe(self) -> Readiness:
        engine = self._entries.engine
        mounted = await self._entries.mounted_engine()
        if mounted is None:
            raise Malformed(f"no engine is mounted at {engine.mount}", hint="set path in the store")
        kind, version = mounted
        if kind != "kv":
            raise Malformed(f'expected mount type "kv" found "{kind}"', hint="set path in the store")
        if version != engine.version:
            raise Malformed(
                f"expected kv engine version {engine.version[1:]} found version {version[1:]}",
                hint=f"set version in the store to {version}",
            )
        return "ready"

    async def fetch_one(self, key: RemoteKey) -> Payload | None:
        return await self._payload(key.key, self._version(key.version))

    async def _payload(self, key: str, version: str = "") -> Payload | None:
        data = (await self._entries.read(key, version)).data
        return None if data is None else Payload(data)

    async def _document(self, key: str) -> SecretBytes | None:
        payload = await self._payload(key)
        return None if payload is None else SecretBytes(await self._compute(payload.document))

    def _version(self, version: str) -> str:
        if not version:
            return ""
        if not self._entries.engine.versioned:
            raise Malformed(
                "OpenBao KVv1 secrets do not support versioning (use KVv2)",
                hint="leave remoteRef.version out",
            )
        if not (version.isascii() and version.removeprefix("-").isdecimal()):
            raise Malformed("invalid Ref.Version: it is not a number", hint='write it as in "3"')
        return version
