"""Records the provider calls of a simulation, and makes those fail for which a step has a fault."""

from base64 import b64encode
from collections.abc import Sequence

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.engine.observer import Call, NullObserver, Operation
from syncret.daemon.simulate.scenario import Fault, store_ref
from syncret.providers.contract import PushItem, RemoteTarget

READS: tuple[Operation, ...] = ("read", "find")


class ProviderRecorder(NullObserver):
    """Counts and records the provider calls of one step, and injects its faults."""

    def __init__(self) -> None:
        self._faults: tuple[Fault, ...] = ()
        self.begin_step(())

    def begin_step(self, faults: Sequence[Fault]) -> None:
        """Reset the records for a new step with these faults."""
        self._faults = tuple(faults)
        self.reads = 0
        self.writes: list[Document] = []
        self.deletes: list[Document] = []

    def fault(self, operation: Operation, store: ObjectRef) -> str | None:
        """The error text of a call of that kind, if it fails now."""
        kind = "read" if operation in (*READS, "exists") else operation
        for fault in self._faults:
            if fault.operation == kind and (not fault.store or store_ref(fault.store) == store):
                return fault.error
        return None

    def called(self, call: Call) -> None:
        if call.operation in READS:
            self.reads += 1
        if call.failure is not None:
            return
        named = {"store": f"{call.store.kind}/{call.store.name}", "namespace": call.namespace}
        match call.item:
            case PushItem() as item:
                place = {"remoteKey": item.remote_key, "property": item.property}
                value = {"valueBase64": b64encode(item.value.raw).decode(), "metadata": item.metadata}
                self.writes.append(named | place | value)
            case RemoteTarget(remote_key, prop) if call.operation == "delete":
                self.deletes.append(named | {"remoteKey": remote_key, "property": prop})
            case _:
                pass
