"""The Connect server's API: the endpoints, and what a store asks of them.

https://developer.1password.com/docs/connect/api-reference
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from syncret.providers.errors import Malformed
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.onepassword.items import File, Found, Item, Summary, wanted_files
from syncret.providers.onepassword.spec import OnePasswordSpec
from syncret.providers.values import SecretBytes

_GRANT: Final = "issue a Connect token that may read the vault; to push, one that may write it"

VAULTS: Final = Endpoint("GET", "/v1/vaults", "listing vaults", _GRANT)
ITEMS: Final = Endpoint("GET", "/v1/vaults/{vault}/items", "listing items", _GRANT)
CREATE: Final = Endpoint("POST", "/v1/vaults/{vault}/items", "creating item {title}", _GRANT)
_ITEM: Final = "/v1/vaults/{vault}/items/{item}"
READ: Final = Endpoint("GET", _ITEM, "reading item {title}", _GRANT)
REPLACE: Final = Endpoint("PUT", _ITEM, "changing item {title}", _GRANT)
DELETE: Final = Endpoint("DELETE", _ITEM, "deleting item {title}", _GRANT)
CONTENT: Final = Endpoint("GET", f"{_ITEM}/files/{{file}}/content", "reading a file of item {title}", _GRANT)

_ID: Final = re.compile(r"[0-9a-z]{26}")
_KEPT: Final = 300.0
"""Seconds for which the vaults' names are taken to stay the same."""


class _Vault(msgspec.Struct):
    id: str
    name: str = ""


class Vaults:
    """The vaults of one store, in order."""

    def __init__(self, spec: OnePasswordSpec, api: Api, now: Callable[[], float]) -> None:
        self._api = api
        self._now = now
        self._names = sorted(spec.vaults, key=lambda name: spec.vaults[name])
        self._ids: list[str] = []
        self._until = 0.0

    async def ids(self) -> list[str]:
        """Their IDs. Raises Malformed if the token cannot see one of them."""
        if self._now() < self._until:
            return self._ids
        found = (await self._api.call(VAULTS)).decode(list[_Vault])
        self._ids = [_id_of(name, found) for name in self._names]
        self._until = self._now() + _KEPT
        return self._ids

    async def id_of(self, name: str) -> str:
        """The ID of one of them. Raises Malformed if the store does not have it."""
        if name not in self._names:
            raise Malformed(f"vault {name} is not among those of the store", hint="write it into vaults, too")
        return (await self.ids())[self._names.index(name)]

    async def summaries(self, vault: str, *, title: str | None = None) -> list[Summary]:
        """The items of a vault, or those with one title."""
        params = {} if title is None else {"filter": f'title eq "{_quoted(title)}"'}
        return (await self._api.call(ITEMS, params=params, vault=vault)).decode(list[Summary])

    async def find(self, key: str, listed: Mapping[str, list[Summary]] | None = None) -> Found | None:
        """The item with an ID or a title, from the first vault that has one; None if there is none.

        `listed` has the items of each vault. Raises Malformed for a title that several items have.
        """
        for vault in await self.ids():
            if _ID.fullmatch(key):
                found = await self.read(vault, key, key)
                if found is not None:
                    return found
            summaries = await self.summaries(vault, title=key) if listed is None else listed[vault]
            same = [each for each in summaries if each.title == key]
            if len(same) > 1:
                raise Malformed(
                    f"expected one item with the title {key!r}, found {len(same)}",
                    hint="write the item's ID, or give the items titles of their own",
                )
            if same:
                return await self.read(vault, same[0].id, key)
        return None

    async def read(self, vault: str, item: str, title: str) -> Found | None:
        """One whole item; None if there is none."""
        answer = await self._api.look_up(READ, vault=vault, item=item, title=title)
        return None if answer is None else Found(answer.decode(Item), answer.decode(dict[str, Any]))

    async def with_files(self, found: Found, name: str, *, every: bool = False) -> Found:
        """The same with the content of the files that a property names, or of all."""
        item, contents = found.item, dict[str, SecretBytes]()
        for file in wanted_files(item, name, every=every):
            content = await self._content(item, file)
            contents.setdefault(file.name, content)
        return Found(item, found.raw, contents)

    async def _content(self, item: Item, file: File) -> SecretBytes:
        answer = await self._api.call(
            CONTENT,
            headers={"Accept": "*/*"},
            vault=item.vault.id,
            item=item.id,
            file=file.id,
            title=item.title,
        )
        return SecretBytes(answer.body)

    async def create(self, vault: str, fields: Mapping[str, Any]) -> None:
        """A new item."""
        await self._api.call(CREATE, body=fields, vault=vault, title=fields["title"])

    async def replace(self, found: Found, fields: Mapping[str, Any]) -> None:
        """Write an item that was read, with changes."""
        item = found.item
        await self._api.call(REPLACE, body=fields, vault=item.vault.id, item=item.id, title=item.title)

    async def delete(self, found: Found) -> None:
        """Delete an item; one that is gone is no error."""
        item = found.item
        await self._api.look_up(DELETE, vault=item.vault.id, item=item.id, title=item.title)

    def __repr__(self) -> str:
        return f"<Vaults {self._api!r}>"


def _id_of(name: str, vaults: list[_Vault]) -> str:
    same = [vault.id for vault in vaults if name in {vault.id, vault.name}]
    if len(same) == 1:
        return same[0]
    found = "several vaults have this name" if same else "there is no such vault, or the token may not see it"
    raise Malformed(f"vault {name}: {found}", hint="write the vault's ID, and issue a token for it")


def _quoted(text: str) -> str:
    """As a filter of SCIM has it (RFC 7644: a string of JSON)."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
