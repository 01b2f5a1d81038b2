"""What the engine asks of a reconciler: whom an object depends on, which store it waits for, and one run."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.homes.contract import HomeError, StoredObject
from syncret.providers.errors import SyncError

Failure: TypeAlias = SyncError | HomeError

ANY = "*"
"""In a reference: an object of any name (for selectors), or of any namespace."""


class Outcome(Struct, frozen=True):
    """What a run came to.

    `next_due` is when to look again, in seconds since the epoch; None waits for a change. After a failure the
    engine's backoff decides, bounded by `next_due`, and never shorter than what a server asked for.
    """

    next_due: float | None = None
    failure: Failure | None = None
    pending: bool = False
    """It could not be decided yet, and what it waits for is under way: its first pass is still to come."""


class Reconciler(Protocol):
    """Brings one kind of object to where it should be. What is wanted is read anew on each run.

    References and lane follow from the name and the spec alone: they are asked for once per generation.
    """

    @property
    def group_kind(self) -> GroupKind:
        """The kind it is for."""
        ...

    def dependencies(self, stored: StoredObject) -> Iterable[ObjectRef]:
        """The objects whose change concerns this one; name or namespace may be ANY."""
        ...

    def store_lane(self, ref: ObjectRef, dependencies: Sequence[ObjectRef]) -> str:
        """The store whose calls it waits for, as a name; objects of one lane share its turns and its cap.

        `dependencies` are those of the object.
        """
        ...

    async def reconcile(self, ref: ObjectRef) -> Outcome:
        """One run. It is also called once after the object has gone, to clean up.

        May raise SyncError or BackendError, which count as a failure; Conflict is run again at once.
        """
        ...
