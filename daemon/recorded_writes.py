"""Records every output that the reconcilers write, for `sync`, `plan` and `simulate`."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, ObjectRef, ref_of
from syncret.config.resources.kinds import role_of
from syncret.daemon.homes.contract import StoredObject, Target

BOOKKEEPING = ("finalizers", "resourceVersion", "managedFields")


class RecordedWrite(NamedTuple):
    """One output written: the object before (None: created) and after (None: deleted).

    Both are encoded, because a pass over ten thousand objects keeps all of them.
    """

    action: Literal["create", "update", "delete"]
    ref: ObjectRef
    was: bytes | None
    became: bytes | None

    @property
    def before(self) -> Document | None:
        return None if self.was is None else msgspec.json.decode(self.was)

    @property
    def after(self) -> Document | None:
        return None if self.became is None else msgspec.json.decode(self.became)

    @property
    def api_version(self) -> str:
        return str((self.after or self.before or {}).get("apiVersion", ""))


class RecordingWriter:
    """A `Target` that passes every write on and records it, except finalizers and GeneratorStates."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.written: list[RecordedWrite] = []

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        return await self._target.get(ref)

    def is_unchanged(self, ref: ObjectRef) -> bool:
        return self._target.is_unchanged(ref)

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[StoredObject]:
        return await self._target.list(group_kind, namespace=namespace, selector=selector)

    async def create(self, document: Document, *, manager: str = "") -> StoredObject:
        created = await self._target.create(document, manager=manager)
        self._note(RecordedWrite("create", created.ref, None, created.data))
        return created

    async def update(self, document: Document, *, manager: str = "") -> StoredObject:
        former = await self._target.get(ref_of(document))
        updated = await self._target.update(document, manager=manager)
        if former is None or _content(former.document) != _content(updated.document):
            before = former.data if former is not None else None
            self._note(RecordedWrite("update", updated.ref, before, updated.data))
        return updated

    async def set_finalizers(self, stored: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        return await self._target.set_finalizers(stored, finalizers)

    async def delete(self, ref: ObjectRef, *, uid: str = "") -> None:
        before = await self._target.get(ref)
        await self._target.delete(ref, uid=uid)
        if before is not None:
            self._note(RecordedWrite("delete", ref, before.data, None))

    def _note(self, written: RecordedWrite) -> None:
        if role_of(written.ref.group_kind) != "record":
            self.written.append(written)


def _content(document: Document) -> Document:
    metadata = {key: value for key, value in document["metadata"].items() if key not in BOOKKEEPING}
    return {**document, "metadata": metadata}
