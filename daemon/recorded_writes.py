"""Records every output that the reconcilers write, for `sync`, `plan` and `simulate`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from syncret.config.meta import Document, ObjectRef, ref_of
from syncret.config.resources.kinds import role_of
from syncret.daemon.homes.contract import Home, StoredObject

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
    """Implements `ObjectWriter`. Bookkeeping (finalizers, the records of generators) is no output."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.written: list[RecordedWrite] = []

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        created = await self._home.create(document, field_manager=field_manager)
        self._note(RecordedWrite("create", created.ref, None, _whole(created, document)))
        return created

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        former = await self._home.get(ref_of(document))
        updated = await self._home.update(document, field_manager=field_manager)
        if former is None or (
            former.resource_version != updated.resource_version
            and _content(former.document) != _content(document)
        ):
            before = former.data if former is not None else None
            self._note(RecordedWrite("update", updated.ref, before, _whole(updated, document)))
        return updated

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        return await self._home.set_finalizers(seen, finalizers)

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        return await self._home.update_status(seen, status)

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        before = await self._home.get(seen.ref)
        held = await self._home.delete(seen)
        if before is not None:
            self._note(RecordedWrite("delete", seen.ref, before.data, None))
        return held

    def may_mark(self, ref: ObjectRef) -> bool:
        return self._home.may_mark(ref)

    def _note(self, written: RecordedWrite) -> None:
        if role_of(written.ref.group_kind) != "record":
            self.written.append(written)


def _whole(written: StoredObject, document: Document) -> bytes:
    """What was written, with the content that the home may keep elsewhere."""
    content = {key: value for key, value in document.items() if key not in ("metadata", "status")}
    return msgspec.json.encode({**written.document, **content})


def _content(document: Document) -> Document:
    metadata = {key: value for key, value in document["metadata"].items() if key not in BOOKKEEPING}
    return {**document, "metadata": metadata}
