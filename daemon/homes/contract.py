"""The contract of a home: a small object store with the semantics of the Kubernetes API.

One contract for all homes: `memory` (a simulated cluster, also one that lags), `filesystem` (a host) and
`kubernetes`. An object that one reconciler writes is an event for another.

A home answers a write at once and announces it later, kinds in any order: the writer knows more than the
watch has announced so far. So each write returns the version that it made.

Objects travel encoded. A `StoredObject` is immutable and compact: ten thousand of them at rest are ten
thousand small byte strings, and no caller can change one that another holds.
"""

from collections.abc import AsyncIterator, Awaitable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from syncret.config.errors import Problem
from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.providers.contract import IssuedToken

M = TypeVar("M")


class StoredObject(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One version of one object, as the store holds it."""

    ref: ObjectRef
    uid: str
    resource_version: str
    generation: int = 0
    """Counts changes of the spec: a change of the status alone needs no decoding; 0: unknown."""
    data: bytes

    def is_newer_than(self, other: "StoredObject | None") -> bool:
        """Whether this is the later version, of whatever uid: versions of one kind are growing numbers."""
        if other is None:
            return True
        mine, theirs = self.resource_version, other.resource_version
        return (len(mine), mine) > (len(theirs), theirs)

    def has_same_generation(self, other: "StoredObject") -> bool:
        """Whether both are versions of one uid with the same spec, as far as the generation shows."""
        return self.generation > 0 and self.generation == other.generation and self.uid == other.uid

    def as_type(self, model: type[M]) -> M:
        """The object read by a model; fields that the model does not know are passed over."""
        return msgspec.json.decode(self.data, type=model)

    @property
    def document(self) -> Document:
        """The object as JSON: a fresh copy, free to be changed."""
        document: Document = msgspec.json.decode(self.data)
        return document

    def partly_decoded(self, *members: str) -> Document:
        """As `document`, for a write of these members alone: all others stay encoded, as `msgspec.Raw`."""
        whole = msgspec.json.decode(self.data, type=dict[str, msgspec.Raw])
        return {name: msgspec.json.decode(raw) if name in members else raw for name, raw in whole.items()}

    def __repr__(self) -> str:
        return f"<StoredObject {self.ref} @{self.resource_version}>"


class WatchEventType(StrEnum):
    """The type of an event of an object or a kind.

    DRIFTED: the version is the same, but content that the home keeps outside of its store changed. LISTED:
    all objects of the kind that existed have been announced. UNKNOWN: the kind cannot be watched now (there
    is no such kind, or no right to it), so that absence means nothing.
    """

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    DRIFTED = "drifted"
    LISTED = "listed"
    UNKNOWN = "unknown"


class WatchEvent(msgspec.Struct, frozen=True):
    """One event; `object` is the new version, or the last one of a deleted object, if it is about one."""

    type: WatchEventType
    group_kind: GroupKind
    object: StoredObject | None = None


class RefusalReason(StrEnum):
    """Why a manifest, or a file of manifests, has no effect; a label of metrics.

    In this order: its file cannot be read; it is no YAML; there is no such kind; it breaks a rule; the object
    is defined elsewhere already; its folder may not define it; it is right, and cannot be stored.
    """

    UNREADABLE = "unreadable"
    SYNTAX = "syntax"
    KIND = "kind"
    INVALID = "invalid"
    DUPLICATE = "duplicate"
    BOUNDS = "bounds"
    STORAGE = "storage"


class HomeProblem(NamedTuple):
    """A problem of a file, a mount or a watch of the home, for the administrator or the manifest's author."""

    source: str
    problem: Problem
    ref: ObjectRef | None = None
    """The object whose manifest it is about, if that is known."""
    reason: RefusalReason | None = None
    """Why the manifest has no effect; None for a warning, and for a problem of no manifest."""
    document: int = 0
    """The line at which the document of the manifest begins; 0: it is about the whole file."""

    @property
    def place(self) -> str:
        """The source, with the line where it is known."""
        return f"{self.source}:{self.problem.line}" if self.problem.line else self.source

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class ManifestPlace(NamedTuple):
    """The place of an object's manifest, and whether the home accepts its present content."""

    file: str
    line: int
    is_valid: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class HomeUnusable(Exception):
    """The home cannot be opened, or not be used any more; nothing in it was changed."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class HomeError(Exception):
    """The home could not do what was asked; `reason` is Kubernetes' own word."""

    reason = "InternalError"


class NotFound(HomeError):
    """There is no such object."""

    reason = "NotFound"


class Conflict(HomeError):
    """The object is not as it was when this write was decided: read it again and decide again."""

    reason = "Conflict"


class AlreadyExists(Conflict):
    """An object of that name is there already."""

    reason = "AlreadyExists"


class OutcomeUnknown(Conflict):
    """No answer came, but the request may have been carried out: read the object, then decide."""

    reason = "Timeout"


class Invalid(HomeError):
    """The object violates its schema, a rule of admission, or immutability."""

    reason = "Invalid"

    def __init__(self, message: str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class Forbidden(Invalid):
    """The object may not be written now: its namespace is being deleted."""

    reason = "Forbidden"


class TooManyRequests(HomeError):
    """The home is overloaded and has not carried the request out."""

    reason = "TooManyRequests"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageUnavailable(HomeError):
    """The home itself cannot be used now: a disk is full, a folder is read-only or another user's."""

    reason = "ServiceUnavailable"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NotDurable(StorageUnavailable):
    """The write was made and announced, but the home cannot make it outlast the process.

    `stored` is the version that it made, or None if the object is gone.
    """

    def __init__(self, message: str, stored: StoredObject | None, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.stored = stored


class IssuedTokens(Protocol):
    """Issues tokens of ServiceAccounts."""

    async def issue_token(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        """A token for these audiences (none: the API server's own). Raises SyncError."""
        ...


class Watch(Protocol):
    """A stream of events: an asynchronous iterator that `contextlib.aclosing` ends for sure."""

    def __aiter__(self) -> AsyncIterator[WatchEvent]: ...

    def __anext__(self) -> Awaitable[WatchEvent]: ...

    async def aclose(self) -> None:
        """End the stream, also for a reader that waits."""
        ...


class ObjectReader(Protocol):
    """Reads objects and announces their versions."""

    def kinds(self) -> Collection[GroupKind]:
        """The kinds that `watch` announces, each LISTED or UNKNOWN in any order; they may change."""
        ...

    def watch(self) -> Watch:
        """The objects that exist and every later version, until closed.

        Events may be late and may skip versions; they are in order only within one object. What a home keeps
        outside of its store (on a host: the data of written Secrets) may be missing from them: ask `get`.
        """
        ...

    async def announced(self) -> None:
        """Return once the watchers have processed the events of all writes so far."""
        ...

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """The object as it is now, whole, or None; never from a cache.

        Raises StorageUnavailable where it cannot be read now.
        """
        ...

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[StoredObject]:
        """Objects of a kind as they are now, in the order of their namespaces and names.

        Raises Malformed for a selector that Kubernetes would refuse.
        """
        ...

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """Whether a Secret is certainly as its ExternalSecret wrote it, without reading its data.

        Then it is marked as managed, and its data is what its data-hash names. False if that is not known.
        """
        ...

    def is_absent(self, ref: ObjectRef) -> bool:
        """Whether there is no such object, by the events of the watch alone; False if that is not known.

        An object that was created a moment ago may still count as absent: then `create` raises AlreadyExists.
        """
        ...

    def manifest_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """The manifest of an object, stored or refused; None if no file defines it."""
        ...

    async def field_place(self, ref: ObjectRef, field: str, text_line: int = 0) -> ManifestPlace | None:
        """The place of a field in the manifest of an object, or of a line within its text.

        The place of the object itself if that is not known.
        """
        ...


class ObjectWriter(Protocol):
    """Writes objects. Manifests are JSON objects.

    Each method returns the version that it made as the watch announces it (so it may lack what the home keeps
    outside of its store), or the one that stands where nothing differs. Each may raise StorageUnavailable
    (NotDurable where the write was made), TooManyRequests, and OutcomeUnknown where it may have been carried
    out without an answer.
    """

    async def check_durable(self) -> None:
        """Asked before each run, so that nothing is fetched or generated that could not be recorded.

        Raises StorageUnavailable while what was written before cannot be made durable; it is tried again.
        """
        ...

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """Create the object. Raises AlreadyExists or Invalid (Forbidden: its namespace is being deleted).

        `field_manager` is the owner of the keys that this write sets, in `metadata.managedFields`.
        """
        ...

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """Replace all but the status; equal content is no write. Raises NotFound, Conflict or Invalid.

        A stale `metadata.resourceVersion` or another `metadata.uid` conflicts; without, the last write wins.
        Dropping the last finalizer of an object that is being deleted removes it.
        """
        ...

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        """Replace the finalizers of this version and nothing else: only they are validated.

        Raises and removes as `update` does.
        """
        ...

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        """Replace the status of this version; None where the object is gone. Equal content is no write.

        What was acknowledged is not lost. Raises Conflict where there is a newer version.
        """
        ...

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        """Mark this version for deletion; once its finalizers are gone, the object and its dependents are.

        Returns the version that a finalizer still holds, or None where it is gone. Raises NotFound, or
        Conflict where there is a newer version.
        """
        ...

    def may_mark(self, ref: ObjectRef) -> bool:
        """Whether an object that is not our output may get our labels and finalizers."""
        ...


class Home(ObjectReader, ObjectWriter, IssuedTokens, Protocol):
    """A home: reads, writes and announces objects, and issues tokens."""

    @property
    def writes_at_once(self) -> int:
        """The number of concurrent writes that suits this home best."""
        ...

    def owns(self, ref: ObjectRef) -> bool:
        """Whether the object is ours to act on; always, where there is one replica. Asked before each run."""
        ...

    def is_behind(self, group_kind: GroupKind) -> bool:
        """Whether the watch may lack what another replica wrote before this one took over: ask `get`."""
        ...

    async def ownership_changed(self) -> None:
        """Return once `owns` may answer otherwise than when this returned last."""
        ...

    def problems(self) -> Sequence[HomeProblem]:
        """The problems of the home itself now."""
        ...

    def record_event(self, seen: StoredObject, *, warning: bool, reason: str, message: str) -> None:
        """Record an event of this version, as `kubectl describe` shows it, if the home has events."""
        ...

    @property
    def waiting_deletions(self) -> int:
        """The number of objects that no manifest defines any more, and that are not deleted yet."""
        ...

    async def run(self) -> None:
        """Follow folders, inspect files, renew watches; until cancelled."""
        ...
