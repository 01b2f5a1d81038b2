"""The secret APIs of a simulation: they return what the scenario says."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from syncret.config.meta import Document, GroupKind, member
from syncret.daemon.simulate.scenario import resource_name
from syncret.providers.contract import SecretBytes, SecretMap
from syncret.providers.secret_apis import (
    CallIdentity,
    CredentialName,
    SecretApisContext,
    SecretCall,
    SecretCalls,
    SecretReader,
)

API: Final = "scenario"


class SimulatedSecretApis:
    """One API for each resource that the scenario names; it has all of its names."""

    def __init__(self, values: Mapping[str, Mapping[str, str]], on_call: Callable[[], object]) -> None:
        self._values = {resource_name(name): dict(each) for name, each in values.items()}
        self._on_call = on_call

    def plan(self, kind: GroupKind, resource: Document, names: Collection[str] | None) -> SecretCalls | None:
        """One call, if any of the names is wanted; None for a resource that the scenario does not name."""
        metadata = member(resource, "metadata")
        place = (kind.kind, str(metadata.get("namespace", "")), str(metadata.get("name", "")))
        values = self._values.get(place)
        if values is None:
            return None
        call = SecretCall(API, frozenset(values), place)
        wanted = names is None or not call.names.isdisjoint(names)
        return SecretCalls({}, [call] if wanted else [])

    def credentials(self, resource: Document) -> Sequence[CredentialName]:
        """None are needed."""
        del resource
        return ()

    def open(self, context: SecretApisContext) -> AbstractAsyncContextManager[SecretReader]:
        """Nothing is opened."""
        del context
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[SecretReader, None]:
        yield self

    async def read(self, call: SecretCall, identity: CallIdentity) -> SecretMap:
        """What the scenario says."""
        del identity
        self._on_call()
        kind, namespace, name = call.request
        return {key: SecretBytes(text.encode()) for key, text in self._values[kind, namespace, name].items()}
