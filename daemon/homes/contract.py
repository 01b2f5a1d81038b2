"""What a home offers the engine: a small object store with the semantics of the Kubernetes API.

One contract, three homes: `memory` (a simulated cluster), `filesystem` (a host) and, to come, `kubernetes`.
The engine sees `Source` (what is wanted), `Target` (what is written) and `Status` (what is told); a home
implements all three on one set of objects, so that an object that one controller writes is an event for
another.

Objects travel encoded. A `Stored` is immutable and compact: ten thousand of them at rest are ten thousand
small byte strings, and nobody can change one behind another's back.
"""

from collections.abc import AsyncIterator, Awaitable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, TypeVar

import msgspec

from syncret.config.errors import Problem
from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, ObjectRef

M = TypeVar("M")


class StoredObject(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One version of one object, as the store holds it."""

    ref: ObjectRef
    uid: str
    resource_version: str
    generation: int = 0
    """Counts the changes of the spec: a change of the status alone is told without decoding; 0: unknown."""
    data: bytes

    def has_same_generation(self, other: "StoredObject") -> bool:
        """Whether both are versions of one life with the same spec, as far as the generation tells."""
        return self.generation > 0 and self.generation == other.generation and self.uid == other.uid

    def as_type(self, model: type[M]) -> M:
        """The object read by a model; fields that the model does not know are passed over."""
        return msgspec.json.decode(self.data, type=model)

    @property
    def document(self) -> Document:
        """The object as JSON: a fresh copy, free to be changed."""
        document: Document = msgspec.json.decode(self.data)
        return document

    def __repr__(self) -> str:
        return f"<Stored {self.ref} @{self.resource_version}>"


class WatchEventType(StrEnum):
    """What happened to an object, or (SYNCED) that everything that existed at the start has been told.

    DRIFTED: somebody touched what the home keeps of the object outside of its store; the version is the same.
    """

    ADDED = "added"
    MODIFIED = "modified"
    DRIFTED = "drifted"
    DELETED = "deleted"
    LISTED = "synced"


class WatchEvent(msgspec.Struct, frozen=True):
    """One event. `stored` is the new version, or the last one of a deleted object; SYNCED carries none."""

    type: WatchEventType
    object: StoredObject | None = None


class HomeError(Exception):
    """The home could not do what was asked; `reason` is Kubernetes' own word."""

    reason = "InternalError"


class NotFound(HomeError):
    """There is no such object."""

    reason = "NotFound"


class AlreadyExists(HomeError):
    """An object of that name is there already."""

    reason = "AlreadyExists"


class Conflict(HomeError):
    """The object changed since it was read: read it again and decide again."""

    reason = "Conflict"


class Invalid(HomeError):
    """The object breaks a rule: of its schema, of admission, or of immutability."""

    reason = "Invalid"

    def __init__(self, message: str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class Forbidden(Invalid):
    """The object may not be written here and now: its namespace is going away."""

    reason = "Forbidden"


class StorageUnavailable(HomeError):
    """The home itself cannot be used now: a disk is full, a folder is read-only or someone else's."""

    reason = "ServiceUnavailable"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Watch(Protocol):
    """A stream of changes: an asynchronous iterator that `contextlib.aclosing` ends for sure."""

    def __aiter__(self) -> AsyncIterator[WatchEvent]: ...

    def __anext__(self) -> Awaitable[WatchEvent]: ...

    async def aclose(self) -> None:
        """End the stream, also for a reader that waits."""
        ...


class Source(Protocol):
    """Tells what is wanted."""

    def watch(self) -> Watch:
        """Every object that exists, then SYNCED, then every change in order, until closed.

        What a home keeps outside of its store (on a host: the data of written Secrets) may be missing from
        events: whoever needs the values of an object asks `get`.
        """
        ...


class Target(Protocol):
    """Holds objects of any kind. Manifests are JSON objects; what comes back is the stored version."""

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """The object, or None. Raises TargetUnavailable where what it holds cannot be told now."""
        ...

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """Whether a Secret surely is as its ExternalSecret left it, told without reading its data.

        Then it is marked as managed, and its data is what its data-hash names. False where that is not known.
        """
        ...

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[StoredObject]:
        """Objects of a kind, in the order of their namespaces and names.

        Raises Malformed for a selector that Kubernetes would refuse.
        """
        ...

    async def create(self, document: Document, *, manager: str = "") -> StoredObject:
        """Raises AlreadyExists, Invalid (Forbidden: its namespace is going away) or TargetUnavailable.

        `manager` is the name under which `metadata.managedFields` books the keys that this write sets.
        """
        ...

    async def update(self, document: Document, *, manager: str = "") -> StoredObject:
        """Replace all but the status; equal content is no write. Raises NotFound, Conflict or Invalid.

        A stale `metadata.resourceVersion` or another `metadata.uid` conflicts; without, the last write wins.
        Dropping the last finalizer of an object that is being deleted removes it.
        """
        ...

    async def set_finalizers(self, stored: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        """Replace the finalizers of this version and nothing else, so that no more than they is judged.

        Raises and removes as `update` does.
        """
        ...

    async def delete(self, ref: ObjectRef, *, uid: str = "") -> None:
        """Mark for deletion; the object goes once its finalizers are gone, and what it owns after it.

        Raises NotFound, or Conflict where `uid` names another life of that name.
        """
        ...


class Status(Protocol):
    """Keeps what is told about an object; what was acknowledged is not lost."""

    async def update_status(
        self, ref: ObjectRef, status: Mapping[str, Any], *, uid: str
    ) -> StoredObject | None:
        """Replace the status of this life of the object; None where it is gone. Equal content is no write."""
        ...


class Home(Source, Target, Status, Protocol):
    """A whole home."""

    def kinds(self) -> Collection[GroupKind]:
        """The kinds that `watch` tells of."""
        ...
