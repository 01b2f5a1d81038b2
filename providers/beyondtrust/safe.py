"""The client of Secrets Safe: the endpoints, and what it does with them.

A search for a secret finds nothing also if the user may not see it. So reading a missing secret is an error,
and no `deletionPolicy` applies.

https://docs.beyondtrust.com/bips/docs/secrets-safe-apis
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.beyondtrust.push import PushOptions, options
from syncret.providers.contract import Compute, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads, unpaced
from syncret.providers.kit.http import Answer
from syncret.providers.kit.paging import Page, pages
from syncret.providers.kit.references import as_text
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pushes import PushItem
from syncret.providers.values import RemoteKey, SecretBytes

_READ: Final = "give the user's group the feature Secrets Safe (read), and access to the folder"
_WRITE: Final = "give the user's group the feature Secrets Safe (read and write), and access to the folder"
_SECRETS: Final = "/secrets-safe/secrets"
_OF_FOLDER: Final = "/secrets-safe/folders/{folder}/secrets"

FIND: Final = Endpoint("GET", _SECRETS, "reading secret {name}", _READ)
FILE: Final = Endpoint("GET", f"{_SECRETS}/{{id}}/file/download", "reading file {name}", _READ)
FOLDERS: Final = Endpoint("GET", "/secrets-safe/folders", "listing folders", _READ)
CREATE: Final = Endpoint("POST", _OF_FOLDER, "creating secret {name}", _WRITE)
CREATE_TEXT: Final = Endpoint("POST", f"{_OF_FOLDER}/text", "creating secret {name}", _WRITE)
UPDATE: Final = Endpoint("PUT", f"{_SECRETS}/{{id}}", "changing secret {name}", _WRITE)
UPDATE_TEXT: Final = Endpoint("PUT", f"{_SECRETS}/{{id}}/text", "changing secret {name}", _WRITE)
DELETE: Final = Endpoint("DELETE", f"{_SECRETS}/{{id}}", "deleting secret {name}", _WRITE)

_KEPT: Final = ("Title", "Description", "Username", "OwnerId", "OwnerType", "Owners", "Notes", "Urls")
"""Members that a change must send again."""

_PAGE: Final = 1000
"""Folders that are listed in one call."""


@dataclass(slots=True)
class Session:
    """The user of the last login."""

    user: int = 0


class _Folder(msgspec.Struct, rename="pascal"):
    id: str
    name: str
    parent_id: str | None = None


class _Secrets(msgspec.Struct, rename="pascal"):
    """A list of secrets, as versions 3.2 and later of the API send it."""

    data: list[dict[str, Json]]


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret as Secrets Safe returns it, and its value."""

    raw: Mapping[str, Any] = field(repr=False)
    value: bytes = field(repr=False)

    @property
    def id(self) -> str:
        return str(self.raw["Id"])

    @property
    def kind(self) -> str:
        return str(self.raw.get("SecretType") or "").upper()


@dataclass(frozen=True, slots=True)
class Place:
    """The settings of a store about the place of its secrets, and their encoding."""

    separator: str
    version: str
    decrypt: bool


class SafeClient(Unversioned, ComputingClient, TextValues, TextWrites[Secret], SingleReads[SecretBytes]):
    """Reads, pushes, deletes and probes."""

    def __init__(self, api: Api, place: Place, session: Session, compute: Compute) -> None:
        super().__init__(api, compute)
        self._place = place
        self._session = session
        self._version = {"version": place.version} if place.version else {}

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes:
        found = await self.entry(key.key)
        if found is None:
            raise Malformed(
                f"there is no secret {key.key}, or the user may not see it",
                hint="check the key, and the user's access to the folder",
            )
        return SecretBytes(found.value)

    async def entry(self, key: str) -> Secret | None:
        path, title = self._parts(key)
        params = {
            "path": path,
            "title": title,
            "separator": self._place.separator,
            "decrypt": "true" if self._place.decrypt else "false",
            **self._version,
        }
        listed = _listed(await self._api.call(FIND, params=params, name=key))
        if not listed:
            return None
        found = Secret(listed[0], b"")
        if found.kind == "FILE":
            answer = await self._api.call(FILE, params=self._version, id=found.id, name=key)
            return Secret(found.raw, answer.body)
        password = found.raw.get("Password")
        if not isinstance(password, str):
            raise Malformed(
                f"reading secret {key}: the answer has no value",
                hint="may the user see the values of the folder? server.decrypt must be true",
            )
        return Secret(found.raw, password.encode())

    def _parts(self, key: str) -> tuple[str, str]:
        """The path of the folder, and the title."""
        path, _, title = key.rpartition(self._place.separator)
        if not (path.strip() and title.strip()):
            raise Malformed(
                f"invalid retrieval path {key!r}", hint=f"write <folder>{self._place.separator}<title>"
            )
        return path.strip(), title.strip()

    # -- push
    def text(self, entry: Secret) -> bytes:
        return entry.value

    async def store(self, item: PushItem, text: bytes, entry: Secret | None) -> None:
        path, title = self._parts(item.remote_key)
        wanted = options(item.metadata)
        wanted.check(path.rpartition(self._place.separator)[2], title)
        value = as_text(text, "push it in base64")
        if entry is None:
            await self._create(item.remote_key, value, wanted)
            return
        if entry.kind == "FILE":
            raise Malformed(
                f"changing secret {item.remote_key}: it is a file, which is not written",
                hint="push to a secret of the type credential or text",
            )
        kept = {name: entry.raw[name] for name in _KEPT if entry.raw.get(name) is not None}
        endpoint, member = (UPDATE_TEXT, "Text") if entry.kind == "TEXT" else (UPDATE, "Password")
        body = {**kept, member: value}
        await self._api.call(endpoint, body=body, params=self._version, id=entry.id, name=item.remote_key)

    async def _create(self, key: str, value: str, wanted: PushOptions) -> None:
        path, title = self._parts(key)
        folder = await self._folder(path)
        body = wanted.body(title, value, self._session.user, self._place.version)
        endpoint = CREATE_TEXT if wanted.is_text else CREATE
        await self._api.call(endpoint, body=body, params=self._version, folder=folder, name=key)

    async def remove(self, key: str) -> None:
        found = await self.entry(key)
        if found is not None:
            await self._api.look_up(DELETE, id=found.id, name=key)

    async def _folder(self, path: str) -> str:
        """The ID of the folder at a path. A safe, in which folders may be, is not in the list."""
        folders = {each.id: each async for each in pages(self._page, unpaced, doing="listing folders")}
        names = path.split(self._place.separator)
        left = {each.id: _unmatched(each, folders, names) for each in folders.values()}
        fitting = [id_ for id_, rest in left.items() if rest == 0]
        fitting = fitting or [id_ for id_, rest in left.items() if rest == 1]
        if not fitting:
            raise Malformed(f"there is no folder {path} that the user may see", hint="create it")
        if len(fitting) > 1:
            raise Malformed(f"there is more than one folder {path}", hint="write the whole path")
        return fitting[0]

    async def _page(self, token: str) -> Page[_Folder]:
        start = int(token or "0")
        params = {"limit": str(_PAGE), "offset": str(start)}
        listed = (await self._api.call(FOLDERS, params=params)).decode(list[_Folder])
        return Page(listed, str(start + _PAGE) if len(listed) == _PAGE else "")

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(FOLDERS, params={"limit": "1"})
        return "ready"


def _listed(answer: Answer) -> list[dict[str, Json]]:
    """The secrets of a list: versions before 3.2 of the API send it bare."""
    wrapped = answer.decode_if(_Secrets)
    return answer.decode(list[dict[str, Json]]) if wrapped is None else wrapped.data


def _unmatched(folder: _Folder, folders: Mapping[str, _Folder], names: list[str]) -> int | None:
    """How many of the names lie above the folders that are listed; None if another folder is meant."""
    above: _Folder | None = folder
    for number, name in enumerate(reversed(names)):
        if above is None:
            return len(names) - number
        if above.name != name:
            return None
        above = folders.get(above.parent_id or "")
    return 0 if above is None else None
