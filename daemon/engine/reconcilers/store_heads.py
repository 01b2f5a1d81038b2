"""What most reconciles ask about a store: whose it is, who may use it, and whether it is ready."""

import msgspec

from syncret.config.meta import Metadata, ObjectRef
from syncret.config.resources.secret_store import SecretStoreStatus, StoreCondition
from syncret.daemon.backends.contract import Stored


class _Spec(msgspec.Struct, frozen=True):
    controller: str = ""
    conditions: tuple[StoreCondition, ...] = ()


class StoreHead(msgspec.Struct, frozen=True):
    """A store without its provider's spec, which may be large."""

    metadata: Metadata
    spec: _Spec
    status: SecretStoreStatus = SecretStoreStatus()


class StoreHeads:
    """Reads the head of each version of a store once, however many objects ask."""

    def __init__(self) -> None:
        self._known: dict[ObjectRef, tuple[Stored, StoreHead]] = {}

    def of(self, stored: Stored) -> StoreHead:
        """The head of this version."""
        known = self._known.get(stored.ref)
        if known is not None and known[0] is stored:
            return known[1]
        head = stored.as_type(StoreHead)
        self._known[stored.ref] = (stored, head)
        return head

    def forget(self, ref: ObjectRef) -> None:
        """The store is gone."""
        self._known.pop(ref, None)
