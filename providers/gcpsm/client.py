"""Serves one store from Secret Manager."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from syncret.providers.contract import (
    FindQuery,
    PushItem,
    Readiness,
    RemoteKey,
    RemoteRef,
    RemoteTarget,
    SecretBytes,
    SecretMap,
)
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.gcpsm.filters import filter_text
from syncret.providers.gcpsm.payloads import Beside, Payload, value_of
from syncret.providers.gcpsm.writing import Writing
from syncret.providers.kit import gojson, goregexp
from syncret.providers.kit.google.refusals import Unusable

if TYPE_CHECKING:  # brings in asyncio and TLS
    from syncret.providers.gcpsm.api import Api, Secret

_LATEST: Final = "latest"
_AT_ONCE: Final = 8
"""How many values one search reads at the same time: Google has no call that reads several."""


class GcpSmClient:
    """Reads, finds, pushes, deletes and probes. It has no batches: Google has none.

    Args:
        falls_back: whether the newest enabled version is taken where the latest is disabled or destroyed.
    """

    converts_keys = True

    def __init__(self, api: "Api", location: str, *, falls_back: bool) -> None:
        self._api = api
        self._writing = Writing(api, location)
        self._falls_back = falls_back

    def __repr__(self) -> str:
        return f"<GcpSmClient {self._api!r}>"

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Payload | SyncError]:
        found: dict[RemoteKey, Payload | SyncError] = {}
        for key in keys:
            payload: Payload | SyncError | None
            try:
                payload = await self._fetch(key)
            except (Denied, Malformed) as error:
                payload = error  # of this key alone
            if payload is not None:
                found[key] = payload
        return found

    def value(self, payload: Payload, ref: RemoteRef) -> SecretBytes | None:
        return value_of(payload, ref)

    def fields(self, payload: Payload, ref: RemoteRef) -> SecretMap | None:
        value = value_of(payload, ref)
        problem = ""
        try:
            return {key: SecretBytes(member) for key, member in gojson.to_secret_map(value.raw).items()}
        except Malformed as error:
            problem = error.message
        raise Malformed(
            f"unable to unmarshal secret from JSON: {problem}",
            hint="extract takes a value that is a JSON object",
        )

    async def find(self, query: FindQuery) -> SecretMap:
        path = query.path or ""
        if query.name is not None:
            matches = goregexp.compile(query.name).search
            listed = [secret async for secret in self._api.list(filter_text(path, ()))]
            names = [secret.id for secret in listed if matches(secret.id)]
        elif query.tags:
            listed = [secret async for secret in self._api.list(filter_text(path, query.tags))]
            names = [secret.id for secret in listed if _has(secret, query.tags)]
        else:
            raise Malformed("unexpected find operator", hint="write find.name.regexp or find.tags")
        return await self._read_all([name for name in names if name.startswith(path)])

    async def push(self, item: PushItem) -> None:
        await self._writing.push(item)

    async def delete(self, target: RemoteTarget) -> None:
        await self._writing.delete(target)

    async def exists(self, target: RemoteTarget) -> bool:
        return await self._writing.exists(target)

    async def probe(self) -> Readiness:
        await self._api.logged_in()
        return "ready"

    async def _fetch(self, key: RemoteKey) -> Payload | None:
        if key.metadata:
            secret = await self._api.get(key.key)
            return None if secret is None else Beside(secret.annotations, secret.labels)
        try:
            return await self._api.access(key.key, key.version or _LATEST)
        except Unusable:
            if key.version or not self._falls_back:
                raise
        newest = await self._api.newest_enabled(key.key)
        return await self._api.access(key.key, newest or _LATEST)

    async def _read_all(self, names: Sequence[str]) -> SecretMap:
        """The latest values. A secret that has none yet is left out; one that cannot be read ends it."""
        found: dict[str, SecretBytes] = {}
        failed: list[SyncError] = []
        left = iter(names)

        async def read() -> None:
            for name in left:
                if failed:
                    return
                try:
                    payload = await self._fetch(RemoteKey(name))
                except SyncError as error:
                    failed.append(error)
                    return
                if isinstance(payload, SecretBytes):
                    found[name] = payload

        from asyncio import TaskGroup  # see above

        async with TaskGroup() as group:
            for number in range(min(_AT_ONCE, len(names))):
                group.create_task(read(), name=f"gcpsm find {number}")
        if failed:
            raise failed[0]
        return {name: found[name] for name in names if name in found}


def _has(secret: "Secret", tags: Sequence[tuple[str, str]]) -> bool:
    labels = secret.labels or {}
    return all(labels.get(key) == value for key, value in tags)
