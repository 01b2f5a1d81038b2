"""Writes the statuses of a sidecar's objects to the other home, in the background.

A status neither delays a sync nor makes it fail. Of each object only the newest status is written.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import structlog

from syncret.config.meta import ObjectRef, member
from syncret.daemon.homes.contract import Conflict, Home, HomeError, StoredObject, TooManyRequests
from syncret.providers.kit.retry import Doubling

MAX_CONFLICTS: Final = 5
_PAUSES: Final = Doubling(1.0, 300.0)
_VERSION: Final = "syncedResourceVersion"

log = structlog.get_logger()


class StatusReports:
    """The statuses that are still to be written. `run` it; `add` never waits."""

    def __init__(self, home: Home, newest: Callable[[ObjectRef], StoredObject | None]) -> None:
        """`newest` returns the version of an object that the home announced last."""
        self._home = home
        self._newest = newest
        self._waiting: dict[ObjectRef, StoredObject] = {}
        self._arrived = asyncio.Event()

    def add(self, stored: StoredObject) -> None:
        """Take the status of this version."""
        self._waiting[stored.ref] = stored
        self._arrived.set()

    async def run(self) -> None:
        """Write one after the other, until cancelled."""
        failures = 0
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            ref, stored = next(iter(self._waiting.items()))
            del self._waiting[ref]
            try:
                await self._write(stored)
                failures = 0
            except HomeError as error:
                self._waiting.setdefault(ref, stored)
                failures += 1
                if failures == 1:
                    log.warning("a status is not reported", object=str(ref), reason=str(error))
                asked = error.retry_after if isinstance(error, TooManyRequests) else None
                await asyncio.sleep(_PAUSES.pause(failures) if asked is None else asked)

    async def _write(self, stored: StoredObject) -> None:
        newest = self._newest(stored.ref)
        status = member(stored.document, "status")
        for _ in range(MAX_CONFLICTS):
            if newest is None:
                return
            try:
                await self._home.update_status(newest, _of_version(status, newest.generation))
            except Conflict:
                newest = await self._home.get(stored.ref)
            else:
                return


def _of_version(status: Mapping[str, Any], generation: int) -> Mapping[str, Any]:
    """The status with the object's generation in the other home: the sidecar counts its own."""
    version = status.get(_VERSION)
    if not isinstance(version, str):
        return status
    return {**status, _VERSION: f"{generation}-{version.partition('-')[2]}"}
