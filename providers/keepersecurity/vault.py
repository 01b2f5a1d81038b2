"""The part of Keeper's vault that one application can read: its endpoints, records and folders.

https://docs.keeper.io/en/keeperpam/secrets-manager/developer-sdk-library
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from syncret.providers.errors import Denied, Malformed
from syncret.providers.keepersecurity import cipher
from syncret.providers.keepersecurity.protocol import Calls
from syncret.providers.keepersecurity.records import Data, File, Record
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.work import Work

_DEVICE: Final = "check that the device is still one of the application, and is used from where it may be"
_EDIT: Final = "let the application edit what is in the folder"


def _endpoint(name: str, doing: str, grant: str = _DEVICE) -> Endpoint:
    return Endpoint("POST", f"/api/rest/sm/v1/{name}", doing, grant)


READ: Final = _endpoint("get_secret", "reading {what}")
FOLDERS: Final = _endpoint("get_folders", "reading folders")
CREATE: Final = _endpoint("create_secret", "creating record {title}", _EDIT)
UPDATE: Final = _endpoint("update_secret", "changing record {title}", _EDIT)
DELETE: Final = _endpoint("delete_secret", "deleting record {title}", _EDIT)

_PIECE: Final = 40
"""Steps that it costs to decrypt a piece, beside its length."""


class _File(msgspec.Struct, rename="camel"):
    file_key: str = ""
    data: str = ""
    url: str = ""


class _Record(msgspec.Struct, rename="camel"):
    record_uid: str = ""
    record_key: str = ""
    data: str = ""
    revision: int = 0
    is_editable: bool = True
    files: list[_File] | None = None


class _Folder(msgspec.Struct, rename="camel"):
    folder_uid: str = ""
    folder_key: str = ""
    parent: str | None = None
    records: list[_Record] | None = None


class _Answer(msgspec.Struct):
    records: list[_Record] | None = None
    folders: list[_Folder] | None = None


class _FileData(msgspec.Struct):
    title: str = ""


class _Deletion(msgspec.Struct, rename="camel"):
    response_code: str = ""


class _Deletions(msgspec.Struct):
    records: list[_Deletion] | None = None


class Damaged(NamedTuple):
    """A record that cannot be decrypted with what the application has."""

    uid: str

    def error(self) -> Malformed:
        """The error for the reader of the record."""
        return Malformed(
            f"record {self.uid} cannot be decrypted, not even its title",
            hint="share it, or its shared folder, with the application anew; or stop sharing it",
        )


def check_titles(records: Iterable[Record | Damaged]) -> None:
    """Raise Malformed if a record cannot be decrypted: it might have any title."""
    for each in records:
        if isinstance(each, Damaged):
            raise each.error()


class Place(NamedTuple):
    """The folder of a new record."""

    shared: str
    """The shared folder."""
    key: bytes
    within: str = ""
    """The folder within it, if it is one."""


class Vault:
    """The records and folders that are shared with an application."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._device = calls.device

    def __repr__(self) -> str:
        return f"<Vault {self._calls!r}>"

    async def records(self, uids: Sequence[str] = ()) -> Mapping[str, Record | Damaged]:
        """The records with these UIDs, or all, by UID; those that are not shared are missing."""
        payload = {"requestedRecords": uids} if uids else {}
        what = "all records" if not uids else f"record {uids[0]}" if len(uids) == 1 else "records"
        return await self._calls.read(READ, payload, self._records, what=what)

    async def content(self, file: File, uid: str) -> bytes:
        """The content of a file. Raises SyncError."""
        if not file.key:
            raise Malformed(
                f"a file of record {uid} cannot be decrypted, not even its title",
                hint="delete it from the record, and upload it anew",
            )
        doing = f"reading file {file.title} of record {uid}"
        content = cipher.opened(await self._calls.download(file.url, doing=doing), file.key)
        if content is None:
            raise Malformed(f"{doing}: it cannot be decrypted", hint="upload it anew")
        return content

    async def place(self, uid: str) -> Place | None:
        """The folder with a UID; None if it is not shared with the application."""
        return await self._calls.read(FOLDERS, {}, lambda answer, work: self._place(answer, uid, work))

    async def check(self) -> None:
        """Raises SyncError if the device may not call."""
        await self._calls.call(FOLDERS, {})

    async def create(self, place: Place, data: Mapping[str, Any]) -> None:
        """Make a record. Raises SyncError."""
        title = str(data["title"])
        if self._device.owner is None:
            raise Malformed(
                f"creating record {title}: the configuration has no appOwnerPublicKey",
                hint="make a new configuration: without that key the owner could not read the record",
            )
        key = cipher.new_key()
        payload = {
            "recordUid": cipher.new_uid(),
            "recordKey": _base64(cipher.sealed_for(key, self._device.owner)),
            "folderUid": place.shared,
            "folderKey": _base64(cipher.sealed(key, place.key)),
            "data": _base64(cipher.sealed(msgspec.json.encode(data), key)),
        }
        within = {"subFolderUid": place.within} if place.within else {}
        await self._calls.call(CREATE, {**payload, **within}, title=title)

    async def update(self, record: Record, data: Mapping[str, Any]) -> None:
        """Replace what a record holds. Raises SyncError."""
        sealed = cipher.encoded(cipher.sealed(msgspec.json.encode(data), record.key))
        payload = {"recordUid": record.uid, "revision": record.revision, "data": sealed}
        await self._calls.call(UPDATE, payload, title=record.title)

    async def delete(self, record: Record) -> None:
        """Delete a record. Raises SyncError."""
        answer = await self._calls.read(DELETE, {"recordUids": [record.uid]}, _deletions, title=record.title)
        if any(each.response_code != "ok" for each in answer):
            raise Denied(f"deleting record {record.title}: Keeper refuses it", hint=_EDIT)

    # -- what is answered
    def _records(self, answer: bytes, work: Work) -> dict[str, Record | Damaged]:
        """The records by uid; of one that is shared twice, the first counts."""
        found: dict[str, Record | Damaged] = {}
        for given, key in self._with_keys(_decoded(answer, work), work):
            if given.record_uid not in found:
                found[given.record_uid] = _record(given, key, work)
        return found

    def _with_keys(self, answer: _Answer, work: Work) -> Iterator[tuple[_Record, bytes]]:
        """Each record, and the key that opens its own: the application's, or that of its folder."""
        yield from ((record, self._device.app_key) for record in answer.records or ())
        for folder in answer.folders or ():
            key = _opened(folder.folder_key, self._device.app_key, work) or b""
            yield from ((record, key) for record in folder.records or ())

    def _place(self, answer: bytes, uid: str, work: Work) -> Place | None:
        folders = {folder.folder_uid: folder for folder in _decoded(answer, work).folders or ()}
        found = top = folders.get(uid)
        for _ in folders:
            if top is None or not top.parent:
                break
            top = folders.get(top.parent)
        if found is None or top is None or top.parent:
            return None
        key = _opened(top.folder_key, self._device.app_key, work)
        if key is None:
            raise Malformed(f"folder {uid} cannot be decrypted", hint="share it with the application anew")
        return Place(top.folder_uid, key, "" if top is found else uid)


def _decoded(answer: bytes, work: Work) -> _Answer:
    work.make(2 * len(answer))
    return msgspec.json.decode(answer, type=_Answer)


def _deletions(answer: bytes, work: Work) -> list[_Deletion]:
    work.make(len(answer))
    return msgspec.json.decode(answer, type=_Deletions).records or []


def _record(given: _Record, key: bytes, work: Work) -> Record | Damaged:
    own = _opened(given.record_key, key, work) if given.record_key else key
    raw = None if own is None else _opened(given.data, own, work)
    if own is None or raw is None:
        return Damaged(given.record_uid)
    try:
        data, document = msgspec.json.decode(raw, type=Data), msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Damaged(given.record_uid)
    return Record(
        uid=given.record_uid,
        key=own,
        data=data,
        raw=document,
        revision=given.revision,
        is_editable=given.is_editable,
        files=tuple(_file(file, own, work) for file in given.files or ()),
    )


def _file(given: _File, key: bytes, work: Work) -> File:
    """A file of a record that has this key; without title and key if they cannot be decrypted."""
    own = _opened(given.file_key, key, work) or b""
    about = _opened(given.data, own, work) or b""
    try:
        return File(msgspec.json.decode(about, type=_FileData).title, given.url, own)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return File("", given.url, b"")


def _opened(text: str, key: bytes, work: Work) -> bytes | None:
    work.step(_PIECE)
    work.make(len(text))
    return cipher.opened(cipher.decoded(text), key)


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
