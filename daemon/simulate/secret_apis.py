"""The secret APIs of a simulation: they return what the scenario says."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from syncret.config.meta import Document, GroupKind, member
from syncret.daemon.simulate.scenario import resource_name
from syncret.providers.errors import SyncError
from syncret.providers.secret_apis import (
    CallIdentity,
    CredentialName,
    SecretApis,
    SecretApisContext,
    SecretCall,
    SecretCalls,
    SecretReader,
)
from syncret.providers.values import SecretBytes, SecretMap

API: Final = "scenario"


class SimulatedSecretApis:
    """One API for each resource that the scenario names; it has all of its names.

    Names that the vendor's own plan finds in the status are found there here, too.
    """

    def __init__(
        self,
        values: Mapping[str, Mapping[str, str]],
        on_call: Callable[[], object],
        find: Callable[[str], SecretApis | None],
    ) -> None:
        """`find` gives the vendor's secret APIs for resources of an API group, which are not called."""
        self._find = find
        self._values = {resource_name(name): dict(each) for name, each in values.items()}
        self._on_call = on_call

    def plan(self, kind: GroupKind, resource: Document, names: Collection[str] | None) -> SecretCalls | None:
        """One call, if any of the names is wanted; None for a resource that the scenario does not name."""
        metadata = member(resource, "metadata")
        place = (kind.kind, str(metadata.get("namespace", "")), str(metadata.get("name", "")))
        values = self._values.get(place)
        known = self._known(kind, resource, names)
        if values is None:
            return SecretCalls(known, ()) if names is not None and known.keys() >= set(names) else None
        call = SecretCall(API, frozenset(values), place)
        wanted = names is None or not call.names.isdisjoint(names)
        return SecretCalls(known, [call] if wanted else [])

    def _known(self, kind: GroupKind, resource: Document, names: Collection[str] | None) -> Mapping[str, str]:
        """What the vendor would take from the status; nothing if it could not even plan."""
        apis = self._find(kind.group)
        try:
            planned = None if apis is None else apis.plan(kind, resource, names)
        except SyncError:
            return {}
        return {} if planned is None else planned.known

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
