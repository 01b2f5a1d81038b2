"""The client of a vault."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from syncret.providers.contract import Paced, Readiness, Writer
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.batching import read_each
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.push_options import DelegatedWrites
from syncret.providers.onepassword_sdk.items import Entry, Summary, property_of, several, value_of, values_of
from syncret.providers.onepassword_sdk.kept import Kept
from syncret.providers.onepassword_sdk.spec import BATCH
from syncret.providers.onepassword_sdk.vault import Vault
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

ID: Final = re.compile(r"[0-9a-z]{26}")


class VaultClient(DelegatedWrites):
    """Reads, finds, pushes, deletes and probes."""

    converts_keys = False

    def __init__(self, vault: Vault, writer: Writer, kept: Kept) -> None:
        self._vault = vault
        self._writer = writer
        self._kept = kept

    # -- read
    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """One item is one call, whatever field is asked for; files are read apart."""
        is_file = property_of(ref.property).is_file
        return RemoteKey(ref.key, ref.version, property=ref.property if is_file else "")

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Entry | SecretBytes | SyncError]:
        """Items by title or ID, and references with a slash: each kind is one call of the SDK's."""
        found: dict[RemoteKey, Entry | SecretBytes | SyncError] = {
            key: Malformed("items have no versions that could be read", hint="leave version out")
            for key in keys
            if key.version
        }
        found |= self._kept.of(keys)
        asked = [key for key in keys if key not in found]
        read = await self._resolved([key for key in asked if "/" in key.key])
        read |= await self._items([key for key in asked if key not in read])
        self._kept.add(read)
        return found | read

    def value(self, payload: Entry | SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The value of a reference, or a field of an item, by default `password`."""
        del work
        return payload if isinstance(payload, SecretBytes) else value_of(payload, ref.property)

    def fields(self, payload: Entry | SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        """All fields of an item, or all files of a document; with a property only that one."""
        del work
        if isinstance(payload, SecretBytes):
            raise Malformed(
                f"{ref.key!r} leads to a field", hint="extract takes an item: write its title alone"
            )
        return values_of(payload, ref.property)

    async def _resolved(self, keys: Sequence[RemoteKey]) -> dict[RemoteKey, Entry | SecretBytes | SyncError]:
        """The values of references, without those that name no item."""
        if not keys:
            return {}
        held = await self._vault.resolve(sorted({key.key for key in keys}))
        return {key: held[key.key] for key in keys if key.key in held}

    async def _items(self, keys: Sequence[RemoteKey]) -> dict[RemoteKey, Entry | SecretBytes | SyncError]:
        if not keys:
            return {}
        listed = await self._vault.summaries()
        named = {key: _named(key.key, listed) for key in keys}
        ids = sorted({each.id for same in named.values() for each in same})
        held: Mapping[str, Entry | SyncError] = await self._vault.read(ids) if ids else {}

        async def read(key: RemoteKey) -> Entry | SyncError | None:
            same = named[key]
            if len(same) > 1:
                raise ambiguous(key.key)
            entry = held.get(same[0].id) if same else None
            return await self._with_files(entry, key.property) if isinstance(entry, Entry) else entry

        return {**await read_each(keys, read)}

    async def _with_files(self, entry: Entry, text: str) -> Entry:
        asked = property_of(text, is_document=entry.is_document)
        if not asked.is_file:
            return entry
        return await self._vault.with_files(entry, lambda name: asked.name in {"", name})

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Fields and files whose names match, of the items with a title (a path), with tags, or of all."""
        matches = regexp.matcher(query.name or "", work)
        found, looked = Matches(), Looked("listing items")
        listed = await paced(self._vault.summaries)
        looked.at(listed)
        ids = [each.id for each in listed if _is_wanted(each, query)]
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            for entry in (await paced(partial(self._vault.read, some), reads=len(some))).values():
                if isinstance(entry, SyncError):
                    raise entry
                whole = entry
                if entry.file_attributes:
                    whole = await paced(partial(self._vault.with_files, entry, matches), reads=1)
                for name, value in whole.named_values():
                    if not matches(name):
                        continue
                    if name in found.values:
                        raise several(name, entry.title)
                    found.add_value(name, value)
        return found.values

    # -- push
    async def push(self, item: PushItem) -> None:
        self._kept.clear()
        await super().push(item)

    async def delete(self, target: RemoteTarget) -> None:
        self._kept.clear()
        await super().delete(target)

    # -- probe
    async def probe(self) -> Readiness:
        await self._vault.summaries()
        return "ready"


def _named(key: str, listed: Sequence[Summary]) -> Sequence[Summary]:
    """The items with an ID or, if there is none, with a title."""
    if ID.fullmatch(key):
        same = [each for each in listed if each.id == key]
        if same:
            return same
    return [each for each in listed if each.title == key]


def ambiguous(title: str) -> Malformed:
    """The error for a title that several items have."""
    return Malformed(
        f"there are several items {title!r}", hint="give them titles of their own, or write the ID"
    )


def _is_wanted(item: Summary, query: FindQuery) -> bool:
    """As in the operator: of tags only the keys count, and of a title all of it."""
    tags = {key for key, _ in query.tags or ()}
    return tags <= set(item.tags) and query.path in {None, item.title}
