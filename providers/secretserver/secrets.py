"""Secrets as Secret Server has them: how a key finds one, and what is in it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from syncret.providers.errors import Malformed
from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.endpoints import Endpoint

_VIEW: Final = "give the account the permission View for the secret, and its role View Secret"
_EDIT: Final = "give the account the permission Edit for the secret, and its role Edit Secret"
_OWN: Final = "give the account the permission Owner for the secret, and its role Delete Secret"
_ADD: Final = "give the account the permission Add Secret for the folder, and its role Add Secret"

READ: Final = Endpoint("GET", "/api/v1/secrets/{id}", "reading secret {id}", _VIEW)
BY_PATH: Final = Endpoint("GET", "/api/v1/secrets/0", "reading secret {path}", _VIEW)
SEARCH: Final = Endpoint("GET", "/api/v1/secrets", "looking for secret {name}", _VIEW)
FILE: Final = Endpoint("GET", "/api/v1/secrets/{id}/fields/{slug}", "reading file {slug}", _VIEW)
TEMPLATE: Final = Endpoint("GET", "/api/v1/secret-templates/{id}", "reading template {id}", _ADD)
CREATE: Final = Endpoint("POST", "/api/v1/secrets", "creating secret {name}", _ADD)
UPDATE: Final = Endpoint("PUT", "/api/v1/secrets/{id}", "changing secret {id}", _EDIT)
DELETE: Final = Endpoint("DELETE", "/api/v1/secrets/{id}", "deleting secret {id}", _OWN)

_IN_FOLDER: Final = re.compile(r"folderId:([1-9][0-9]*)/(.+)")
_PAGE: Final = 30


class Item(
    msgspec.Struct, rename={"item_value": "itemValue", "field_name": "fieldName", "is_file": "isFile"}
):
    """One field of a secret."""

    item_value: str | None = None
    field_name: str | None = None
    slug: str | None = None
    is_file: bool = False

    def has(self, name: str) -> bool:
        return name in {self.slug, self.field_name}


class _Record(msgspec.Struct, rename="camel"):
    id: int
    folder_id: int = 0


class _Found(msgspec.Struct):
    records: list[_Record]


class Secret(NamedTuple):
    """A secret as it came, its fields, and the contents of its files by slug."""

    raw: Mapping[str, Any]
    items: Sequence[Item]
    files: Mapping[str, bytes] = {}

    @property
    def id(self) -> str:
        return str(self.raw["id"])

    def value(self, item: Item) -> bytes:
        """The value of a field: its text, or the content of its file, whose text is a placeholder."""
        return self.files.get(item.slug or "", b"") if item.is_file else (item.item_value or "").encode()

    def __repr__(self) -> str:
        return f"<Secret {self.id}>"


class Secrets:
    """Finds secrets by their keys."""

    def __init__(self, api: Api) -> None:
        self.api = api

    async def find(self, key: str, *, folder: int = 0, strictly: bool = False) -> Secret | None:
        """A secret by path, `folderId:<folder>/<name>`, ID or name; None if none is found.

        Of several with one name the first one counts, as in the operator; `strictly`: that is an error.
        """
        if key.startswith("/"):
            return await self._read(await self.api.look_up(BY_PATH, params={"secretPath": key}, path=key))
        scoped = _IN_FOLDER.fullmatch(key)
        if scoped is not None:
            folder, key = int(scoped[1]), scoped[2]
        elif key.isdecimal():
            found = await self.read(key)
            if found is not None:
                return found
        return await self._named(key, folder, strictly=strictly and not folder)

    async def read(self, id_: str) -> Secret | None:
        return await self._read(await self.api.look_up(READ, id=id_))

    async def _named(self, name: str, folder: int, *, strictly: bool) -> Secret | None:
        params = {
            "paging.filter.searchText": name,
            "paging.filter.searchField": "Name",
            "paging.filter.isExactMatch": "true",
            "paging.filter.doNotCalculateTotal": "true",
            "paging.take": str(_PAGE),
            "paging.skip": "0",
        }
        if folder:
            params |= {"paging.filter.folderId": str(folder), "paging.filter.includeSubFolders": "false"}
        listed = (await self.api.call(SEARCH, params=params, name=name)).decode(_Found).records
        fits = [each for each in listed if not folder or each.folder_id == folder]
        if strictly and len(fits) > 1:
            raise Malformed(
                f"several secrets are called {name!r}", hint="write folderId:<ID>/<name>, a path, or an ID"
            )
        return await self.read(str(fits[0].id)) if fits else None

    async def _read(self, answer: Answer | None) -> Secret | None:
        """The secret, with the contents of its files; None for a deleted one."""
        if answer is None:
            return None
        raw = answer.decode(dict[str, Any])
        if raw.get("active") is False:
            return None
        items, files = msgspec.convert(raw.get("items") or [], list[Item]), dict[str, bytes]()
        for item, each in zip(items, raw.get("items") or [], strict=True):
            if item.is_file and each.get("fileAttachmentId") and each.get("filename") and item.slug:
                files[item.slug] = (await self.api.call(FILE, id=str(raw["id"]), slug=item.slug)).body
        return Secret(raw, items, files)


def missing(key: str) -> Malformed:
    """The error for a key that leads nowhere."""
    return Malformed(
        f"there is no secret {key!r}",
        hint="or the account may not see it: Secret Server says the same then",
    )
