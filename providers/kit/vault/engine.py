"""A key-value engine behind a Vault client: entries, their metadata, and what is below a path."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object, member
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.vault.places import Engine, Version, joined
from syncret.providers.kit.vault.replies import Absent, Rejected, number

if TYPE_CHECKING:  # hvac is slow to import, and the table of capabilities needs none of it
    from syncret.providers.kit.vault.client import Vault

T = TypeVar("T")

_SYSTEM: Final = ("created_time", "current_version", "delete_version_after")
_AT_ONCE: Final = 8
"""Requests of one search that run side by side."""

_DEEPEST: Final = 64
"""Folders within folders. Vault has no bound of its own."""


class Entry(NamedTuple):
    """What stands there: its members (None: nothing, or deleted), and the version that a write replaces."""

    data: Document | None
    version: int = 0


@dataclass(frozen=True, slots=True)
class KeyValues:
    """The entries of one engine."""

    vault: "Vault" = field(repr=False)
    engine: Engine

    async def read(self, key: str, version: str = "") -> Entry:
        """One entry, in its newest version or the one that is named."""
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
        """What is known of an entry beside its value, custom metadata included; None where there is none."""
        found = await self.vault.call(
            "GET", self.engine.metadata_path(key), doing=f"reading metadata of {key}"
        )
        if isinstance(found, Absent) or found.data is None:
            return None
        data = found.data
        system = _SYSTEM if self.engine.versioned else ()
        known = {name: _text(data[name]) for name in system if data.get(name) is not None}
        return known | {name: _text(each) for name, each in member(data, "custom_metadata").items()}

    async def below(self, path: str, *, recursive: bool = True) -> list[str]:
        """The keys below a path, which is empty or ends with a slash; those of folders end with one too."""
        keys: list[str] = []
        folders = [path]
        for _ in range(_DEEPEST):
            listed = await self.each(self._listed, folders)
            folders.clear()
            for folder, names in listed:
                keys += [folder + name for name in names if not (recursive and name.endswith("/"))]
                folders += [folder + name for name in names if recursive and name.endswith("/")]
            if not folders:
                return keys
        raise Malformed(f"there are more than {_DEEPEST} folders within each other", hint="set find.path")

    async def mounted(self) -> tuple[str, Version] | None:
        """What kind of engine is mounted there, and its version; None where there is none."""
        mount = self.engine.mount
        path = joined("sys/mounts", mount)
        try:
            found = await self.vault.call("GET", path, doing=f"looking at mount {mount}")
        except Rejected:  # what Vault says of a mount that it does not have
            return None
        if isinstance(found, Absent) or found.data is None:
            return None
        version = member(found.data, "options").get("version")
        return str(found.data.get("type")), "v2" if version == "2" else "v1"

    @staticmethod
    async def each(function: Callable[[str], Awaitable[T]], keys: Iterable[str]) -> list[tuple[str, T]]:
        """The results for all keys, a few at a time. The first failure ends the rest."""
        waiting = list(dict.fromkeys(keys))
        results: dict[str, T] = {}
        rest = iter(waiting)

        async def work() -> None:
            for key in rest:
                results[key] = await function(key)

        failure: SyncError | None = None
        try:
            async with asyncio.TaskGroup() as group:
                for worker in range(min(_AT_ONCE, len(waiting))):
                    group.create_task(work(), name=f"vault search {worker}")
        except* SyncError as errors:
            failure = _first(errors)
        if failure is not None:
            raise failure
        return [(key, results[key]) for key in waiting]

    async def _listed(self, folder: str) -> list[str]:
        path = self.engine.metadata_path(folder)
        found = await self.vault.call("GET", path, doing=f"listing {folder or '/'}", query={"list": "true"})
        names: Any = [] if isinstance(found, Absent) else (found.data or {}).get("keys")
        return [name for name in cast("list[object]", names or []) if isinstance(name, str)]


def _first(errors: BaseExceptionGroup[SyncError]) -> SyncError:
    first = errors.exceptions[0]
    return first if isinstance(first, SyncError) else _first(first)


def _object(value: Json, key: str) -> Document | None:
    if value is None or is_object(value):
        return value
    raise Malformed(f"reading {key}: failed to unmarshall JSON", hint="does path lead to a key-value engine?")


def _text(value: Json) -> str:
    """As Go prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
