"""The client of a Password Depot store: the endpoints, and what it does with them.

https://www.password-depot.de/en/documentation/
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from syncret.providers.contract import Readiness
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.batching import read_each
from syncret.providers.kit.entries import Entries, FieldValues
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import RemoteKey

_GRANT: Final = "give the user the right to read the database, its folders and their entries"

LIST: Final = Endpoint("GET", "/list", "listing {what}", _GRANT)
READ: Final = Endpoint("GET", "/read", "reading entry {name}", _GRANT)

_FIELDS: Final = (
    *("name", "fingerprint", "itemclass", "login", "pass", "url", "importance", "comment", "expirydate"),
    *("tags", "author", "category", "icon", "secondeye", "secondpass", "template", "acm", "paramstr"),
    *("loginid", "passid", "donotaddon", "markassafe", "safemode"),
)
"""Fields that a map always has, whether an entry has them or not."""
_PASSWORD: Final = "pass"


class _Named(msgspec.Struct):
    name: str
    fingerprint: str


class _Databases(msgspec.Struct):
    databases: list[_Named]


class _Entries(msgspec.Struct):
    entries: list[_Named]


class PasswordDepotClient(Unversioned, ApiClient, FieldValues):
    """Reads and probes."""

    default_field = _PASSWORD

    def __init__(self, api: Api, database: str) -> None:
        super().__init__(api)
        self._database = database

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Entries | SyncError]:
        """Each entry by itself; every folder on the way to them is listed once."""
        database = await self._fingerprint()
        folders: dict[str, list[_Named]] = {}

        async def listed(folder: str) -> list[_Named]:
            if folder not in folders:
                params = {"db": database, **({"folder": folder} if folder else {})}
                answer = await self._api.call(LIST, params=params, what="entries")
                folders[folder] = answer.decode(_Entries).entries
            return folders[folder]

        async def read(key: RemoteKey) -> Entries:
            entry, rest = "", key.key
            while rest:
                entry, rest = _step(await listed(entry), rest, key.key)
            if not entry:
                raise Malformed("the key is empty", hint="write the name of an entry")
            answer = await self._api.call(READ, params={"db": database, "entry": entry}, name=key.key)
            held = answer.decode(dict[str, object])
            return Entries({name: _text(held.get(name)) for name in _FIELDS})

        return await read_each(keys, read)

    async def _fingerprint(self) -> str:
        """The database's ID."""
        databases = (await self._api.call(LIST, what="databases")).decode(_Databases).databases
        found = _named(databases, self._database, f"database {self._database}")
        if found is None:
            raise Malformed(
                f"there is no database {self._database}, or the user may not see it",
                hint="check database, and the user's rights",
            )
        return found.fingerprint

    async def probe(self) -> Readiness:
        await self._fingerprint()
        return "ready"


def _step(entries: Sequence[_Named], path: str, key: str) -> tuple[str, str]:
    """The entry that a path leads to, or its first part, and the rest of the path.

    Parts are separated by slashes, in a path without any by dots; a name may have dots, too.
    """
    exact = [each for each in entries if each.name == path]
    first, _, rest = (path, "", "") if exact else path.partition("/" if "/" in key else ".")
    found = _named(entries, first, key)
    if found is None:
        raise Malformed(
            f"there is no entry {key}, or the user may not see it", hint="check the key, and the rights"
        )
    return found.fingerprint, rest


def _named(known: Sequence[_Named], name: str, what: str) -> _Named | None:
    """The one with this name; or else, as in the operator, whose name contains it. Raises Malformed."""
    fitting = [each for each in known if each.name == name] or [each for each in known if name in each.name]
    if len(fitting) > 1:
        raise Malformed(f"{what}: {len(fitting)} names fit {name!r}", hint="write the whole name")
    return fitting[0] if fitting else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
