"""Entries that are texts: a property is a path into the JSON of one; a push with a property changes it."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from syncret.providers.contract import Compute
from syncret.providers.kit import extract
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import sjson
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

E = TypeVar("E")


class TextValues:
    """`value` and `fields` of a Reader whose payloads are texts."""

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The text, or the part that is named by the property."""
        if not ref.property:
            return payload
        found = self.part(payload.raw, ref.property, work)
        if found is None:
            raise extract.missing_property(f"key {ref.property} does not exist in secret {ref.key}")
        return SecretBytes(found)

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The members of the JSON object that the text, or a property of it, is."""
        found = self.value(payload, ref, work)
        return None if found is None else extract.members(found.raw, f"secret {ref.key}", work)

    def part(self, text: bytes, name: str, work: Work) -> bytes | None:
        """What a gjson path leads to; if it leads nowhere, the member of exactly that name."""
        found = extract.value(text, name, work)
        if found is None and "." in name:
            found = extract.value(text, extract.escaped(name), work)
        return found


class TextWrites(ABC, Generic[E]):
    """A Writer for entries that are texts. `E` is an entry as the manager returns it."""

    _compute: Compute

    async def push(self, item: PushItem) -> None:
        """Store the text, or one member of it; nothing is written if that is there already."""
        entry = await self.entry(item.remote_key)
        old, new = None if entry is None else self.text(entry), item.value.raw
        if item.property:
            new = await self._compute(lambda work: sjson.put(old or b"", item.property, item.value.raw, work))
        if entry is None or new != old or self.is_stale(entry, item):
            await self.store(item, new, entry)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete the entry; with a property only that member, and the entry with the last one."""
        entry = await self.entry(target.remote_key)
        if entry is None:
            return
        old = self.text(entry)
        rest: bytes | None = None
        if target.property:
            rest = await self._compute(lambda work: sjson.remove(old, target.property, work))
        if rest is None:
            await self.remove(target.remote_key)
        elif rest != old:
            await self.store(PushItem(target.remote_key, target.property, SecretBytes(rest)), rest, entry)

    async def exists(self, target: RemoteTarget) -> bool:
        entry = await self.entry(target.remote_key)
        if entry is None or not target.property:
            return entry is not None
        text = self.text(entry)
        return await self._compute(lambda work: sjson.has(text, target.property, work))

    @abstractmethod
    async def entry(self, key: str) -> E | None:
        """The entry as it is now; None if there is none. Raises SyncError."""

    @abstractmethod
    def text(self, entry: E) -> bytes:
        """The text of an entry."""

    @abstractmethod
    async def store(self, item: PushItem, text: bytes, entry: E | None) -> None:
        """Write the text: over the entry, or as a new one. Raises SyncError."""

    @abstractmethod
    async def remove(self, key: str) -> None:
        """Delete an entry; one that is gone is no error. Raises SyncError."""

    def is_stale(self, entry: E, item: PushItem) -> bool:
        """Whether something beside the text differs from what the push asks for."""
        del entry, item
        return False


class VersionedTexts(Versioned, TextValues, TextWrites[SecretBytes], SingleReads[SecretBytes]):
    """Texts that are read one by one, in a version if it is asked for, and pushed as they are."""

    async def entry(self, key: str) -> SecretBytes | None:
        return await self.read_current(key)

    def text(self, entry: SecretBytes) -> bytes:
        return entry.raw
