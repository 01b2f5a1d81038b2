"""A key-value engine of a Vault server: entries, their metadata, and lists."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object, member
from syncret.providers.contract import Paced
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import map_concurrently
from syncret.providers.kit.paging import MOST_KEPT, MOST_LISTED, Looked, Matches
from syncret.providers.kit.vault.client import Vault
from syncret.providers.kit.vault.entries import Engine, Version, joined
from syncret.providers.kit.vault.replies import Absent, Rejected, number

_SYSTEM: Final = ("created_time", "current_version", "delete_version_after")
_MAX_DEPTH: Final = 64
"""The deepest nesting of folders that is listed; Vault has no limit."""


class Entry(NamedTuple):
    """An entry: its members (None: missing or deleted), and the version that a write replaces."""

    data: Document | None
    version: int = 0


class _Walk:
    """What a search through folders keeps: wanted keys, and the folders that it has still to enter."""

    def __init__(
        self, keys: Matches, looked: Looked, wanted: Callable[[str], object] | None, *, recursive: bool
    ) -> None:
        self.keys = keys
        self.folders = Matches(most=MOST_LISTED)
        self._looked = looked
        self._wanted = wanted
        self._recursive = recursive

    def enter(self, folder: str, names: list[str] | None) -> bool:
        """Take in the names in a folder; False if there is no such folder (it may have been emptied)."""
        if names is None:
            return False
        self._looked.at(names)
        for name in names:
            key = folder + name
            if self._recursive and name.endswith("/"):
                self.folders.add_name(key)
            elif self._wanted is None or self._wanted(key):
                self.keys.add_name(key)
        return True


@dataclass(frozen=True, slots=True)
class KeyValues:
    """The entries of one engine."""

    vault: Vault = field(repr=False)
    engine: Engine

    async def read(self, key: str, version: str = "") -> Entry:
        """One entry, by default its newest version."""
        query = {"version": version} if version else None
        path = self.engine.value_path(key)
        found = await self.vault.call("GET", path, doing=f"reading {key}", query=query)
        if isinstance(found, Absent):
            return Entry(None, found.version)
        data = found.data
        if data is None or not self.engine.versioned:
            return Entry(data)
        if "data" not in data:
            raise Malformed(
                f"reading {key}: failed to find data field",
                hint="set the store's version to that of the engine: v1 or v2",
            )
        return Entry(_object(data["data"], key), number(member(data, "metadata").get("version")))

    async def metadata(self, key: str) -> Mapping[str, str] | None:
        """The metadata of an entry, including custom metadata; None if it does not exist."""
        found = await self.vault.call(
            "GET", self.engine.metadata_path(key), doing=f"reading metadata of {key}"
        )
        if isinstance(found, Absent) or found.data is None:
            return None
        data = found.data
        system = _SYSTEM if self.engine.versioned else ()
        known = {name: _text(data[name]) for name in system if data.get(name) is not None}
        return known | {name: _text(each) for name, each in member(data, "custom_metadata").items()}

    async def list_below(
        self,
        path: str,
        paced: Paced,
        *,
        wanted: Callable[[str], object] | None = None,
        most: int = MOST_KEPT,
        recursive: bool = True,
    ) -> Matches | None:
        """The wanted keys below a path, which is empty or ends with a slash, as those of folders do.

        None if there is no such path: Vault has no empty folders. Raises Malformed for more than `most` keys.
        """
        walk = _Walk(Matches(most=most), Looked("searching"), wanted, recursive=recursive)
        folders = [path]
        for _ in range(_MAX_DEPTH):
            walk.folders = Matches(most=MOST_LISTED)

            async def look(folder: str) -> bool:
                return walk.enter(folder, await self._list_folder(folder))

            if await map_concurrently(look, folders, paced, doing="vault search") == [(path, False)]:
                return None
            folders = sorted(walk.folders.names)
            if not folders:
                walk.keys.names.sort()
                return walk.keys
        raise Malformed(f"there are more than {_MAX_DEPTH} folders within each other", hint="set find.path")

    async def mounted_engine(self) -> tuple[str, Version] | None:
        """Type and version of the mounted engine; None if nothing is mounted."""
        mount = self.engine.mount
        path = joined("sys/mounts", mount)
        try:
            found = await self.vault.call("GET", path, doing=f"looking at mount {mount}")
        except Rejected:  # Vault's response for a mount that does not exist
            return None
        if isinstance(found, Absent) or found.data is None:
            return None
        version = member(found.data, "options").get("version")
        return str(found.data.get("type")), "v2" if version == "2" else "v1"

    async def _list_folder(self, folder: str) -> list[str] | None:
        path = self.engine.metadata_path(folder)
        found = await self.vault.call("GET", path, doing=f"listing {folder or '/'}", query={"list": "true"})
        if isinstance(found, Absent):
            return None
        names: Json = (found.data or {}).get("keys") or []
        if not is_list(names) or not all(isinstance(name, str) for name in names):
            raise Malformed(f"listing {folder or '/'}: the answer is no list of names")
        return [str(name) for name in names]


def _object(value: Json, key: str) -> Document | None:
    if value is None or is_object(value):
        return value
    raise Malformed(f"reading {key}: failed to unmarshall JSON", hint="does path lead to a key-value engine?")


def _text(value: Json) -> str:
    """As Go prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
