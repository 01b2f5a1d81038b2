"""Knows which events are only the echo of what a reconciler wrote itself, so that they need not wake it."""

from typing import Final, NamedTuple

import msgspec

from syncret.config.meta import NullIsEmpty, ObjectRef, OwnerReference
from syncret.daemon.backends.contract import Stored

KEPT: Final = 8
"""Versions remembered of one object; an echo that was never heard must not stay for ever."""


class _Marks(msgspec.Struct, rename="camel"):
    """What of the metadata is no part of the spec and can change in one life."""

    labels: NullIsEmpty[dict[str, str]] = {}
    annotations: NullIsEmpty[dict[str, str]] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    deletion_timestamp: str = ""


class _Head(msgspec.Struct):
    metadata: _Marks


class _Write(NamedTuple):
    version: str
    writer: ObjectRef


class Echoes:
    """Writes whose events have not come back yet."""

    def __init__(self) -> None:
        self._writes: dict[ObjectRef, list[_Write]] = {}

    def __len__(self) -> int:
        return len(self._writes)

    def expect(self, ref: ObjectRef, version: str, writer: ObjectRef) -> None:
        """`writer` has written this version of `ref`."""
        writes = self._writes.setdefault(ref, [])
        writes.append(_Write(version, writer))
        del writes[:-KEPT]

    def writer(self, stored: Stored) -> ObjectRef | None:
        """Who wrote this version, if it is an echo; it and what was written before is forgotten."""
        writes = self._writes.get(stored.ref, ())
        for place, write in enumerate(writes):
            if write.version == stored.resource_version:
                left = writes[place + 1 :]
                if left:
                    self._writes[stored.ref] = list(left)
                else:
                    del self._writes[stored.ref]
                return write.writer
        return None

    def forget(self, ref: ObjectRef) -> None:
        """The object is gone."""
        self._writes.pop(ref, None)


def only_status(before: Stored | None, after: Stored) -> bool:
    """Whether nothing but the status changed: same life, same generation, same metadata.

    Kinds without a generation (Secrets, ConfigMaps) cannot be told, so every change of theirs counts.
    """
    if before is None or not after.same_spec(before):
        return False
    return before.as_type(_Head) == after.as_type(_Head)
