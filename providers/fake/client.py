"""The client of a store whose secret manager is in memory."""

from collections.abc import Mapping, Sequence
from typing import Final

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.fake.manager import SecretManager
from syncret.providers.kit import extract
from syncret.providers.kit.golang import regexp
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_READY: Final = 0
_NAME_COST: Final = 4


class FakeClient:
    """Reads, finds, pushes, deletes and probes. A version matches exactly; there is no latest one."""

    converts_keys = True

    def __init__(self, manager: SecretManager, compute: Compute, validation_result: int = _READY) -> None:
        self._manager = manager
        self._compute = compute
        self._validation_result = validation_result

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        found = {key: self._manager.get(key.key, key.version) for key in keys}
        return {key: SecretBytes(value) for key, value in found.items() if value is not None}

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        if not ref.property:
            return payload
        found = extract.value(payload.raw, ref.property, work)
        return None if found is None else SecretBytes(found)

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        value = self.value(payload, ref, work)
        return None if value is None else extract.members(value.raw, "unable to unmarshal secret", work)

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Many names are matched in a thread, as they come in one piece."""
        del work
        return await paced(lambda: self._compute(lambda own: self._found(query, own)))

    def _found(self, query: FindQuery, work: Work) -> SecretMap:
        if query.name is None:
            raise Malformed("unsupported find operator", hint="this provider finds by name.regexp only")
        work.step(_NAME_COST * len(self._manager))
        found = self._manager.find(regexp.matcher(query.name, work))
        return {key: SecretBytes(value) for key, value in found.items()}

    async def push(self, item: PushItem) -> None:
        key, value, name = item.remote_key, item.value.raw, item.property
        await self._compute(lambda work: self._manager.put(key, value, work, name))

    async def delete(self, target: RemoteTarget) -> None:
        await self._compute(lambda work: self._manager.remove(target.remote_key, work, target.property))

    async def exists(self, target: RemoteTarget) -> bool:
        return await self._compute(lambda work: self._manager.has(target.remote_key, work, target.property))

    async def probe(self) -> Readiness:
        match self._validation_result:
            case 0:
                return "ready"
            case 1:
                return "unknown"
            case _:
                raise Malformed("unable to validate", hint="its spec says so: validationResult")
