"""The client of a Keeper Security store."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from syncret.providers.contract import Paced, Readiness, Writer
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.keepersecurity.records import Record, files_for, value_of, values_of, whole
from syncret.providers.keepersecurity.vault import Damaged, Vault, check_titles
from syncret.providers.kit.batching import read_each
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.push_options import DelegatedWrites
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_UID: Final = re.compile(r"[A-Za-z0-9_-]{22}")


class KeeperClient(DelegatedWrites):
    """Reads, finds, pushes, deletes and probes."""

    converts_keys = False

    def __init__(self, vault: Vault, writer: Writer, *, by_title: bool) -> None:
        self._vault = vault
        self._writer = writer
        self._by_title = by_title

    # -- read
    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """Records have no versions to read; which files are needed depends on the property."""
        return RemoteKey(ref.key, property=ref.property)

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Record | SyncError]:
        """All in one request; with titles among the keys, one more for all records."""
        uids = sorted({key.key for key in keys if _UID.fullmatch(key.key)})
        held: Mapping[str, Record | Damaged] = await self._vault.records(uids) if uids else {}
        every: Mapping[str, Record | Damaged] = {}
        if self._by_title and any(key.key not in held for key in keys):
            every = await self._vault.records()
        titled = _by_title(every)

        async def read(key: RemoteKey) -> Record:
            if key.key not in held and key.key not in titled:
                check_titles(every.values())
            named = [held[key.key]] if key.key in held else titled.get(key.key, ())
            return await self._with_files(_only(key.key, named, by_title=self._by_title), key.property)

        return await read_each(keys, read)

    def value(self, payload: Record, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """One field or file, or all of the record as JSON."""
        return value_of(payload, ref.property, work) if ref.property else whole(payload, work)

    def fields(self, payload: Record, ref: RemoteRef, work: Work) -> SecretMap | None:
        """All fields and files, or the one that the property names."""
        if ref.property:
            return {ref.property: value_of(payload, ref.property, work)}
        return values_of(payload, work)

    async def _with_files(self, record: Record, name: str) -> Record:
        """The record with those files that are needed for a property, or for all of it."""
        contents = [
            (file.title, SecretBytes(await self._vault.content(file, record.uid)))
            for file in files_for(record, name)
        ]
        return msgspec.structs.replace(record, contents=contents) if contents else record

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The records whose titles match, by title."""
        if query.tags or query.path:
            raise Malformed(
                "records in Keeper are found by their titles alone", hint="write find.name.regexp"
            )
        matches, looked, found = regexp.matcher(query.name or "", work), Looked("listing records"), Matches()
        listed = list((await paced(self._vault.records)).values())
        looked.at(listed)
        check_titles(listed)
        for record in (each for each in listed if isinstance(each, Record) and matches(each.title)):
            if record.title in found.values:
                raise _ambiguous(record.title)
            read = await paced(partial(self._with_files, record, ""), reads=1) if record.files else record
            found.add_value(record.title, whole(read, work))
        return found.values

    # -- probe
    async def probe(self) -> Readiness:
        await self._vault.check()
        return "ready"


def _by_title(records: Mapping[str, Record | Damaged]) -> Mapping[str, Sequence[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records.values():
        if isinstance(record, Record):
            found[record.title].append(record)
    return found


def _only(key: str, named: Iterable[Record | Damaged], *, by_title: bool) -> Record:
    """The record for a key. Raises Malformed if there is none, or are several."""
    several = list(named)
    if len(several) > 1:
        raise _ambiguous(key)
    if not several:
        hint = "check the key, and that the record is shared with the application"
        if not by_title and not _UID.fullmatch(key):
            hint = "write the record's UID, or set getByTitleFallback to read by title"
        raise Malformed(f"there is no record {key}, or it is not shared with the application", hint=hint)
    [record] = several
    if isinstance(record, Record):
        return record
    raise record.error()


def _ambiguous(title: str) -> Malformed:
    return Malformed(
        f"there are several records {title}", hint="give them titles of their own, or write the UID"
    )
