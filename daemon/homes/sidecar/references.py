"""Reads the Secrets and ConfigMaps that stores and templates refer to, and detects later changes.

A sidecar may not watch Secrets. So those that were read are read again from time to time: a rotated
credential needs no restart.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import role_of
from syncret.daemon.homes.contract import HomeError, ObjectReader, StoredObject, WatchEventType

MOST: Final = 1000
"""References that are read again. If there are more, those read longest ago are not."""

_EMPTY: Final = b'{"metadata":{}}'


class References:
    """Secrets, ConfigMaps and ServiceAccounts of another home that were read here."""

    def __init__(
        self, home: ObjectReader, announce: Callable[[WatchEventType, StoredObject], None], *, every: float
    ) -> None:
        """`announce` is called with those that changed; their content is neither kept nor passed on."""
        self._home = home
        self._announce = announce
        self._every = every
        self._read: dict[ObjectRef, StoredObject | None] = {}

    async def read(self, ref: ObjectRef) -> StoredObject | None:
        """The object as it is now; None for a kind that nothing refers to by name. Raises HomeError."""
        if role_of(ref[:2]) != "core":
            return None
        found = await self._home.get(ref)
        self._note(ref, found)
        self._read[ref] = self._read.pop(ref)  # it is the last of them now
        while len(self._read) > MOST:
            del self._read[next(iter(self._read))]
        return found

    async def run(self) -> None:
        """Read them again and again, until cancelled."""
        while True:
            await asyncio.sleep(self._every)
            for ref in tuple(self._read):
                try:
                    self._note(ref, await self._home.get(ref))
                except HomeError:
                    continue  # the run that uses it reports the error

    def _note(self, ref: ObjectRef, found: StoredObject | None) -> None:
        is_first = ref not in self._read
        before = self._read.get(ref)
        now = self._read[ref] = None if found is None else msgspec.structs.replace(found, data=_EMPTY)
        if is_first:
            return
        if now is None:
            if before is not None:
                self._announce(WatchEventType.DELETED, before)
        elif before is None or before.uid != now.uid:
            self._announce(WatchEventType.ADDED, now)
        elif before.resource_version != now.resource_version:
            self._announce(WatchEventType.MODIFIED, now)
