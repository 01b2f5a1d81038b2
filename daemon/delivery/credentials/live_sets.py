"""Reads the live sets of socket targets, so that all credentials of one process come from one set."""

import os
import time
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.core.delivery.credentials import Asked
from syncret.daemon.delivery.credentials.offers import Offer
from syncret.daemon.delivery.making import read_file
from syncret.daemon.delivery.paths import Trust, opened
from syncret.daemon.files.syscalls import OPEN_FOLDER, identity_of, listed

HELD_FOR: Final = 10.0
"""Seconds for which a process gets one set: systemd loads the credentials of one command one by one."""


class LiveSet(Struct, frozen=True, kw_only=True):
    """A set that was live when it was read."""

    generation: int
    values: Mapping[str, bytes]

    def __repr__(self) -> str:
        return f"<LiveSet {self.generation}: {', '.join(self.values)}>"


class LiveSets:
    """The sets from which processes have got a credential."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, str, ObjectRef, str], tuple[float, LiveSet]] = {}

    def of(self, pid: int, asked: Asked, ref: ObjectRef, offer: Offer) -> LiveSet | None:
        """The set for a process; None if none is live yet. Raises Refused and OSError."""
        now = time.monotonic()
        self._held = {key: each for key, each in self._held.items() if each[0] > now}
        key = (pid, asked.unit, ref, offer.folder)
        held = self._held.get(key)
        if held is not None and asked.credential in held[1].values:
            return held[1]
        found = read_live(offer)
        if found is not None:
            same = (each for _, each in self._held.values() if each == found)
            found = next(same, found)  # units that start together share the memory
            self._held[key] = (now + HELD_FOR, found)
        return found


def read_live(offer: Offer) -> LiveSet | None:
    """The set that is live now; None if none is. Raises Refused and OSError."""
    try:
        with opened(offer.folder, Trust.of_process(), make=False) as place:
            folder = os.open(place.name, OPEN_FOLDER, dir_fd=place.folder)
    except FileNotFoundError:
        return None
    try:
        is_new = identity_of(os.fstat(folder)) == offer.coming
        files = {name: read_file(folder, name) for name in listed(folder)}
    finally:
        os.close(folder)
    values = {name: each[1] for name, each in files.items() if each is not None}
    return LiveSet(generation=offer.generation + is_new, values=values)
