"""Reads and finds the entries of one OpenBao store, and judges whether it can be used."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from syncret.config.meta import member
from syncret.providers.contract import FindQuery, Readiness, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit import goregexp
from syncret.providers.kit.vault import payloads
from syncret.providers.kit.vault.engine import KeyValues, side_by_side
from syncret.providers.kit.vault.payloads import Payload
from syncret.providers.kit.vault.places import joined
from syncret.providers.kit.vault.replies import Absent

if TYPE_CHECKING:  # hvac is slow to import, and the table of capabilities needs none of it
    from syncret.providers.kit.vault.client import Vault


class OpenBaoClient:
    """Reader, Finder and Prober of a key-value engine. No Writer: ESO's provider of this name reads only."""

    converts_keys = False

    def __init__(self, bao: "Vault", entries: KeyValues) -> None:
        self._bao = bao
        self._entries = entries

    def __repr__(self) -> str:
        return f"<OpenBaoClient {self._entries.engine}>"

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Payload | SyncError]:
        found: dict[RemoteKey, Payload | SyncError] = {}
        for key in keys:
            try:
                payload = await self._payload(key.key, self._version(key.version))
            except (Denied, Malformed) as error:  # of this key alone; no answer is the whole call's failure
                found[key] = error
                continue
            if payload is not None:
                found[key] = payload
        return found

    def value(self, payload: Payload, ref: RemoteRef) -> SecretBytes | None:
        """A property is the name of a member: OpenBao's provider follows no paths."""
        return payloads.value(payload, ref.property, paths=False)

    def fields(self, payload: Payload, ref: RemoteRef) -> SecretMap | None:
        return payloads.fields(payloads.value(payload, ref.property, paths=False))

    async def find(self, query: FindQuery) -> SecretMap:
        if query.tags is not None or query.name is None:
            problem = "tag based search is not implemented" if query.tags else "a search without a name"
            raise Malformed(problem, hint="this provider finds by name.regexp, within one folder")
        wanted = goregexp.compile(query.name).search
        folder = f"{query.path.strip('/')}/" if query.path else ""
        keys = await self._entries.below(folder, recursive=False)
        names = [key for key in keys if not key.endswith("/") and wanted(key.removeprefix(folder))]
        found = await side_by_side(self._payload, names)
        return {
            key.removeprefix(folder): SecretBytes(payload.document())
            for key, payload in found
            if payload is not None
        }

    async def probe(self) -> Readiness:
        mount, version = self._entries.engine.mount, self._entries.engine.version
        doing = f"looking at mount {mount}"
        found = await self._bao.call("GET", joined("sys/mounts", mount), doing=doing)
        data = None if isinstance(found, Absent) else found.data
        if data is None:
            raise Malformed(f"{doing}: there is none", hint="set path in the store to a key-value engine")
        kind = data.get("type")
        if kind != "kv":
            raise Malformed(f'expected mount type "kv" found "{kind}"', hint="set path in the store")
        actual = member(data, "options").get("version") or "1"
        if f"v{actual}" != version:
            raise Malformed(
                f"expected kv engine version {version[1:]} found version {actual}",
                hint=f"set version in the store to v{actual}",
            )
        return "ready"

    async def _payload(self, key: str, version: str = "") -> Payload | None:
        data = (await self._entries.read(key, version)).data
        return None if data is None else Payload(data)

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
