"""Listens to a simulation: what was read, written and deleted at the stores, and what controllers wrote."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.daemon.backends.contract import Stored, Target
from syncret.daemon.engine.observer import Call, Operation, Silent
from syncret.daemon.simulate.scenario import Fault, store_ref
from syncret.providers.contract import PushItem, RemoteTarget

READS: tuple[Operation, ...] = ("read", "find")


class ProviderRecorder(Silent):
    """Keeps account of provider calls, and makes those fail that a step wants to fail."""

    def __init__(self) -> None:
        self._faults: tuple[Fault, ...] = ()
        self.begin(())

    def begin(self, faults: Sequence[Fault]) -> None:
        """A new step: nothing has happened yet, and these calls fail."""
        self._faults = tuple(faults)
        self.reads = 0
        self.writes: list[Document] = []
        self.deletes: list[Document] = []

    def fault(self, operation: Operation, store: ObjectRef) -> str | None:
        """The text with which a call of that kind fails now, if it does."""
        kind = "read" if operation in READS else operation
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


class RecordedTarget:
    """A target that remembers which outputs the controllers wrote. Bookkeeping (finalizers) is none."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.changes: list[dict[str, Any]] = []

    async def get(self, ref: ObjectRef) -> Stored | None:
        return await self._target.get(ref)

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[Stored]:
        return await self._target.list(group_kind, namespace=namespace, selector=selector)

    async def create(self, document: Document, *, manager: str = "") -> Stored:
        created = await self._target.create(document, manager=manager)
        self._book("create", created.document["apiVersion"], created.ref)
        return created

    async def update(self, document: Document, *, manager: str = "") -> Stored:
        before = await self._target.get(_ref(document))
        updated = await self._target.update(document, manager=manager)
        if before is None or _outputs(before.document) != _outputs(updated.document):
            self._book("update", document["apiVersion"], updated.ref)
        return updated

    async def delete(self, ref: ObjectRef, *, uid: str = "") -> None:
        before = await self._target.get(ref)
        await self._target.delete(ref, uid=uid)
        if before is not None:
            self._book("delete", before.document["apiVersion"], ref)

    def _book(self, action: str, api_version: str, ref: ObjectRef) -> None:
        change = {
            "action": action,
            "apiVersion": api_version,
            "kind": ref.kind,
            "namespace": ref.namespace,
            "name": ref.name,
        }
        self.changes.append(change)


def _ref(document: Document) -> ObjectRef:
    metadata = document["metadata"]
    group = str(document["apiVersion"]).rpartition("/")[0]
    return ObjectRef(group, document["kind"], metadata.get("namespace") or "", metadata["name"])


def _outputs(document: Document) -> Document:
    """The document without what bookkeeping moves."""
    kept = {
        key: value
        for key, value in document["metadata"].items()
        if key not in ("finalizers", "resourceVersion", "managedFields")
    }
    return {**document, "metadata": kept}
