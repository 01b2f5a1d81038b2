"""The client of a Devolutions Server store: the endpoints, and what it does with them.

https://docs.devolutions.net/server/web-interface/rest-api/, https://github.com/Devolutions/go-dvls
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from syncret.providers.contract import Readiness
from syncret.providers.dvls.entries import KINDS, NEW, members
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads, unpaced
from syncret.providers.kit.entries import Entries, FieldValues
from syncret.providers.kit.http import Answer
from syncret.providers.kit.paging import Page, pages
from syncret.providers.kit.references import as_text
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import RemoteKey

_READ: Final = "give the application the right to view the vault, its entries and their passwords"
_WRITE: Final = "give the application the right to add, edit and delete entries of the vault"
_ENTRIES: Final = "/api/v1/vault/{vault}/entry"

VAULTS: Final = Endpoint("GET", "/api/v1/vault", "listing vaults", _READ)
LIST: Final = Endpoint("GET", _ENTRIES, "looking for entry {name}", _READ, "check vault")
READ: Final = Endpoint("GET", f"{_ENTRIES}/{{id}}", "reading entry {id}", _READ)
CREATE: Final = Endpoint("POST", _ENTRIES, "creating entry {name}", _WRITE)
UPDATE: Final = Endpoint("PUT", f"{_ENTRIES}/{{id}}", "changing entry {id}", _WRITE)
DELETE: Final = Endpoint("DELETE", f"{_ENTRIES}/{{id}}", "deleting entry {id}", _WRITE)

_PASSWORD: Final = "password"
_PER_PAGE: Final = 100


class _Named(msgspec.Struct, rename="camel"):
    """A vault, or an entry without its secrets."""

    id: str
    name: str = ""
    path: str | None = None
    type: str | None = None
    sub_type: str | None = None


class _List(msgspec.Struct, rename="camel"):
    data: list[_Named]
    current_page: int = 1
    total_page: int = 1


class _Place(NamedTuple):
    vault: str
    id: str


class DvlsClient(Unversioned, ApiClient, FieldValues, SingleReads[Entries]):
    """Reads, pushes, deletes and probes."""

    default_field = _PASSWORD

    def __init__(self, vault: str, api: Api) -> None:
        super().__init__(api)
        self._vault = vault
        self._vault_id = vault if _is_uuid(vault) else ""

    # -- read
    async def fetch_one(self, key: RemoteKey) -> Entries | None:
        entry = await self._entry(key.key, below=True)
        if entry is None:
            return None
        found = members(entry)
        if found is None:
            raise Malformed(
                f"reading entry {key.key}: it is no credential",
                hint="certificates and other kinds of entries are not read",
            )
        return Entries(found)

    # -- push: one field of an entry
    async def push(self, item: PushItem) -> None:
        """Set a field, by default the password; what is not there is created as user name and password."""
        if not item.secret_key:
            raise Malformed("a field holds one value", hint="write match.secretKey")
        text = as_text(item.value.raw, "push it in base64")
        entry = await self._entry(item.remote_key)
        if entry is None:
            await self._create(item, text)
            return
        data: dict[str, Any] = entry.get("data") or {}
        name = _field(entry, item.property)
        if data.get(name) != text:
            await self._update(item.remote_key, entry, {**data, name: text})

    async def delete(self, target: RemoteTarget) -> None:
        """Delete an entry; with a property empty that field, and delete the entry with the last one."""
        entry = await self._entry(target.remote_key)
        if entry is None:
            return
        if target.property:
            data: dict[str, Any] = entry.get("data") or {}
            name = _field(entry, target.property)
            rest = {each: value for each, value in data.items() if each != name and value}
            if rest:
                if data.get(name):
                    await self._update(target.remote_key, entry, {**data, name: ""})
                return
        place = await self._place(target.remote_key)
        if place is not None:
            await self._api.look_up(DELETE, vault=place.vault, id=place.id)

    async def exists(self, target: RemoteTarget) -> bool:
        entry = await self._entry(target.remote_key)
        return entry is not None and (not target.property or target.property in (members(entry) or {}))

    async def _create(self, item: PushItem, text: str) -> None:
        path, _, name = item.remote_key.replace("/", "\\").rpartition("\\")
        if not self._vault or _is_uuid(name):
            raise Malformed(
                f"creating entry {item.remote_key}: an ID is given by the server",
                hint="write vault into the store and a name as remoteKey, or create the entry",
            )
        kind = {"type": "Credential", "subType": NEW}
        data = {_field(kind, item.property): text}
        body = {"name": name, "path": path, **kind, "data": data}
        await self._api.call(CREATE, body=body, vault=await self._store_vault(), name=name)

    async def _update(self, key: str, entry: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        place = await self._place(key)
        if place is not None:
            kept = {name: entry.get(name) or "" for name in ("name", "description", "path")}
            tags: list[str] = entry.get("tags") or []
            body = {**kept, "tags": tags, "data": data}  # the entry is replaced
            await self._api.call(UPDATE, body=body, vault=place.vault, id=place.id)

    # -- look up
    async def _entry(self, key: str, *, below: bool = False) -> dict[str, Any] | None:
        place = await self._place(key, below=below)
        answer = None if place is None else await self._api.look_up(READ, vault=place.vault, id=place.id)
        if answer is not None:
            return answer.decode(dict[str, Any])
        if place is not None and not await self._has_vault(place.vault):
            raise Malformed(
                f"vault {place.vault} does not exist", hint="check vault, or the key's first part"
            )
        return None

    async def _place(self, key: str, *, below: bool = False) -> _Place | None:
        """The place of an entry; None if no entry has the name.

        `below`: without one in the folder itself, one in a folder below it is taken, as in go-dvls.
        """
        if not self._vault:
            vault, _, id_ = key.partition("/")
            if not (_is_uuid(vault.strip()) and _is_uuid(id_.strip())):
                raise Malformed(f"invalid key {key!r}", hint="write <vault ID>/<entry ID>, or a vault")
            return _Place(vault.strip(), id_.strip())
        vault = await self._store_vault()
        if _is_uuid(key.strip()):
            return _Place(vault, key.strip())
        path, _, name = key.strip().replace("/", "\\").rpartition("\\")
        params = {"name": name, **({"path": path} if path else {})}
        ask = partial(self._api.call, LIST, vault=vault, name=name)
        # the server also lists paths with the same prefix
        fits = _is_below if below else _is_in
        listed = _credentials([each async for each in _pages(ask, params) if fits(each.path or "", path)])
        found = [each.id for each in listed if _is_in(each.path or "", path)] or [each.id for each in listed]
        if len(found) > 1:
            raise Malformed(
                f"found {len(found)} entries named {name!r}",
                hint=f"write the ID of one of them: {', '.join(found[:5])}",
            )
        return _Place(vault, found[0]) if found else None

    async def _store_vault(self) -> str:
        if not self._vault_id:
            named = [each.id async for each in self._vaults() if each.name == self._vault]
            if not named:
                raise Malformed(f"vault {self._vault} does not exist", hint="check vault, and who may see it")
            if len(named) > 1:
                raise Malformed(
                    f"found {len(named)} vaults named {self._vault!r}",
                    hint=f"write the ID of one of them as vault: {', '.join(named[:5])}",
                )
            self._vault_id = named[0]
        return self._vault_id

    async def _has_vault(self, vault: str) -> bool:
        return vault.lower() in [each.id.lower() async for each in self._vaults()]

    def _vaults(self) -> AsyncGenerator[_Named, None]:
        return _pages(partial(self._api.call, VAULTS), {})

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(VAULTS, params={"pageNumber": "1", "pageSize": "1"})
        return "ready"


def _pages(ask: Callable[..., Awaitable[Answer]], params: Mapping[str, str]) -> AsyncGenerator[_Named, None]:
    """The pages of a list; `ask` requests a page with these parameters."""

    async def page(token: str) -> Page[_Named]:
        asked = {**params, "pageNumber": token or "1", "pageSize": str(_PER_PAGE)}
        listed = (await ask(params=asked)).decode(_List)
        following = str(listed.current_page + 1) if listed.current_page < listed.total_page else ""
        return Page(listed.data, following)

    return pages(page, unpaced, doing="looking for entries")


def _is_in(path: str, folder: str) -> bool:
    """Whether a path is that of the folder, if there is one."""
    return not folder or path == folder


def _is_below(path: str, folder: str) -> bool:
    """Whether a path is that of the folder, or of one in it."""
    return _is_in(path, folder) or path.startswith(f"{folder}\\")


def _credentials(listed: Sequence[_Named]) -> Sequence[_Named]:
    """The entries that can be read; without any, the others that could be meant, for an error about them."""
    readable = [each for each in listed if each.type == "Credential" and each.sub_type in KINDS]
    return readable or [each for each in listed if each.type != "Folder"]


def _field(entry: Mapping[str, Any], name: str) -> str:
    """The API's name of a field of this kind of entry; without a name, that of the password."""
    kind = KINDS.get(entry.get("subType") or "")
    found = "" if kind is None else kind.fields.get(name, "") if name else kind.secret
    if not found:
        known = ", ".join(kind.fields) if kind else "none"
        raise Malformed(
            f"an entry of the kind {entry.get('subType')} has no field {name or _PASSWORD!r} to push to",
            hint=f"write match.remoteRef.property: {known}",
        )
    return found


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
