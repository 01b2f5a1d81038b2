"""The client of a Fortanix DSM store: the endpoints, and what it does with them.

https://www.fortanix.com/fortanix-restful-api-references/dsm
"""

from collections.abc import AsyncGenerator
from typing import Final

import msgspec

from syncret.providers.contract import Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches, Page, pages
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "let the app's group use the object, with the operation EXPORT"

INFO: Final = Endpoint("POST", "/crypto/v1/keys/info", "looking up object {name}", _GRANT)
EXPORT: Final = Endpoint("POST", "/crypto/v1/keys/export", "exporting object {name}", _GRANT)
LIST: Final = Endpoint("GET", "/crypto/v1/keys", "listing objects", _GRANT)

_SECRET: Final = "SECRET"
_TYPES: Final = {_SECRET, "OPAQUE"}
_PAGE: Final = 100


class _Object(msgspec.Struct):
    """A security object; the value of an opaque one is in its description."""

    obj_type: str
    kid: str = ""
    name: str = ""
    value: bytes | None = None
    """Base64 in JSON."""
    custom_metadata: dict[str, str] | None = None


class FortanixClient(Unversioned, ApiClient, TextValues, SingleReads[SecretBytes]):
    """Reads, finds and probes. As in the operator, the current version is read."""

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes:
        found = await self._read(key.key)
        if found is None:
            raise _absent(key.key)
        return found

    async def _read(self, name: str) -> SecretBytes | None:
        """The value of an object; None for a 404, which need not mean that it is gone."""
        answer = await self._api.look_up(INFO, body={"name": name}, name=name)
        found = None if answer is None else answer.decode(_Object)
        if found is not None and found.obj_type == _SECRET:
            answer = await self._api.look_up(EXPORT, body={"kid": found.kid}, name=name)
            found = None if answer is None else answer.decode(_Object)
        if found is None:
            return None
        if found.value is None:
            raise Malformed(
                f"object {name} has no value that could be read",
                hint=f"it is of type {found.obj_type}: store secrets as {_SECRET} or OPAQUE",
            )
        return SecretBytes(found.value)

    def part(self, text: bytes, name: str, work: Work) -> bytes | None:
        """The member of exactly that name; otherwise, what it leads to as a gjson path."""
        return extract.member_or_path(text, name, work)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Objects that hold secrets, by name and custom metadata; gone is what is not listed any more."""
        if query.path is not None:
            raise Malformed("objects in Fortanix have no path", hint="write find.name.regexp, or tags")
        matches, tags, found = regexp.matcher(query.name or "", work), set(query.tags or ()), Matches()
        async for each in self._list(paced):
            held = set((each.custom_metadata or {}).items())
            if each.obj_type in _TYPES and each.name and matches(each.name) and tags <= held:
                found.add_name(each.name)
        values = await found.read_values(self._read, paced, doing="fortanix find")
        unread = set(found.names) - values.keys()
        if unread:
            async for each in self._list(paced):
                if each.name in unread:
                    raise _absent(each.name)
        return values

    def _list(self, paced: Paced) -> AsyncGenerator[_Object, None]:
        async def page(token: str) -> Page[_Object]:
            start = int(token or "0")
            params = {"limit": str(_PAGE), "offset": str(start)}
            listed = (await self._api.call(LIST, params=params)).decode(list[_Object])
            return Page(listed, str(start + _PAGE) if len(listed) >= _PAGE else "")

        return pages(page, paced, doing="listing objects")

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(LIST, params={"limit": "1"})
        return "ready"


def _absent(name: str) -> Malformed:
    return Malformed(
        f"there is no object {name}, or the app may not see it",
        hint="check the key, and the groups of the app",
    )
