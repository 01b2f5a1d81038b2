"""The client of a 1Password Connect store."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from syncret.providers.contract import Paced, Readiness, Writer
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.batching import map_concurrently, read_each, reading
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.push_options import DelegatedWrites
from syncret.providers.onepassword.api import Vaults
from syncret.providers.onepassword.items import (
    PASSWORD,
    Found,
    Item,
    Summary,
    fields_by_label,
    labelled,
    property_of,
)
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_MANY: Final = 10
"""From so many keys on, the titles of whole vaults are listed: one call in place of one for each key."""


class OnePasswordClient(DelegatedWrites):
    """Reads, finds, pushes, deletes and probes."""

    converts_keys = False

    def __init__(self, vaults: Vaults, writer: Writer) -> None:
        self._vaults = vaults
        self._writer = writer

    # -- read
    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """One item is one call, whatever field is asked for; a file is read apart."""
        asked = property_of("", ref.property)
        return RemoteKey(ref.key, ref.version, property=ref.property if asked.is_file else "")

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Found | SyncError]:
        listed: dict[str, list[Summary]] | None = None
        if len(keys) >= _MANY:
            listed = {vault: await self._vaults.summaries(vault) for vault in await self._vaults.ids()}

        async def read(key: RemoteKey) -> Found | None:
            if key.version:
                raise Malformed("items have no versions that could be read", hint="leave version out")
            found = await self._vaults.find(key.key, listed)
            return None if found is None else await self._vaults.with_files(found, key.property)

        return await read_each(keys, read)

    def value(self, payload: Found, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """A field by its label, by default `password`; a file by its name, by default the first one."""
        del work
        asked = property_of(payload.item.category, ref.property)
        if asked.is_file:
            return next(iter(self._files(payload, ref).values()))
        return _field(payload.item, asked.name or PASSWORD, ref)

    def fields(self, payload: Found, ref: RemoteRef, work: Work) -> SecretMap | None:
        """All fields, or all files of a document; with a property only that one."""
        del work
        asked = property_of(payload.item.category, ref.property)
        if asked.is_file:
            return self._files(payload, ref)
        if asked.name:
            return {asked.name: _field(payload.item, asked.name, ref)}
        return fields_by_label(payload.item)

    def _files(self, payload: Found, ref: RemoteRef) -> SecretMap:
        name = property_of(payload.item.category, ref.property).name
        found = {each: content for each, content in payload.files.items() if name in {"", each}}
        if not found:
            raise missing_property(f"there is no file {name!r} in item {ref.key!r}")
        return found

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Fields and files whose names match, of the items with a title (a path), with tags, or of all.

        As in the operator, tags are looked for in the first vault alone, and of two equal names the first one
        counts.
        """
        matches = regexp.matcher(query.name or "", work)
        vaults = await paced(self._vaults.ids)
        found, looked = Matches(), Looked("listing items")
        for vault in vaults[:1] if query.tags else vaults:
            summaries = await paced(partial(self._vaults.summaries, vault, title=query.path))
            looked.at(summaries)
            ids = [each.id for each in summaries if _is_wanted(each, query)]
            read = partial(self._read_all, vault)
            for _, item in await map_concurrently(read, ids, reading(paced), doing="onepassword find"):
                for name, value in [] if item is None else _named_values(item):
                    if name not in found.values and matches(name):
                        found.add_value(name, value)
        return found.values

    async def _read_all(self, vault: str, item: str) -> Found | None:
        found = await self._vaults.read(vault, item, item)
        return None if found is None else await self._vaults.with_files(found, "", every=True)

    # -- probe
    async def probe(self) -> Readiness:
        await self._vaults.ids()
        return "ready"


def _is_wanted(item: Summary, query: FindQuery) -> bool:
    """As in the operator: of tags only the keys count, and of a title all of it."""
    tags = {key for key, _ in query.tags or ()}
    return tags <= set(item.tags or ()) and query.path in {None, item.title}


def _field(item: Item, label: str, ref: RemoteRef) -> SecretBytes:
    same = labelled(item, label)
    if same is None:
        raise missing_property(f"there is no field labelled {label!r} in item {ref.key!r}")
    return SecretBytes(same.value.encode())


def _named_values(found: Found) -> list[tuple[str, SecretBytes]]:
    return [*found.files.items(), *fields_by_label(found.item).items()]
