"""The contract of a reconciler: what an object depends on, and one run of it."""

from collections.abc import Iterable
from enum import IntFlag
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from msgspec import Struct, ValidationError

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import kind_of
from syncret.daemon.homes.contract import HomeError, StoredObject
from syncret.providers.errors import Malformed, SyncError

if TYPE_CHECKING:
    from syncret.daemon.engine.writes import Writes

Failure: TypeAlias = SyncError | HomeError

ANY: Final = "*"
"""As the name or namespace of a dependency: an object of any name (for selectors), or of any namespace."""


class On(IntFlag):
    """The parts of another object that an object depends on; only a change of these wakes it."""

    EXISTENCE = 1
    SPEC = 2
    """The spec, or metadata: labels, annotations, finalizers, owners, a deletion."""
    READINESS = 4
    """The status of its condition Ready; of a Deployment, how far it is rolled out."""
    DATA = 8
    """The data of a Secret, or the account of a PushSecret."""


# A flag of an enum is slow to make: these are the sums that reconcilers name.
OBJECT: Final = On.EXISTENCE | On.SPEC
USABLE: Final = OBJECT | On.READINESS
VALUES: Final = OBJECT | On.DATA
EVERYTHING: Final = OBJECT | On.READINESS | On.DATA


class Dependency(NamedTuple):
    """Another object (or, with ANY, each that matches), and the parts of it that matter."""

    ref: ObjectRef
    on: On = EVERYTHING


class Outcome(Struct, frozen=True):
    """The result of a run.

    `next_due` is when to run again, in seconds since the epoch; None waits for a change. After a failure the
    engine's backoff decides, bounded by `next_due`, and never shorter than what a server asked for.
    """

    next_due: float | None = None
    failure: Failure | None = None
    pending: bool = False
    """The run waits for something that is under way: it does not count for the first pass yet."""


class Reconciler(Protocol):
    """Brings objects of one kind in line with their specs, which each run reads anew.

    Dependencies follow from the name and the spec alone: they are asked for once per generation.
    """

    @property
    def group_kind(self) -> GroupKind:
        """The kind it is for."""
        ...

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """The objects whose change concerns this one."""
        ...

    async def reconcile(self, ref: ObjectRef, writes: "Writes") -> Outcome:
        """One run. It is also called once after the object has gone, to clean up.

        May raise SyncError or HomeError, which count as a failure; Conflict is run again at once.
        """
        ...


def unreadable_object(stored: StoredObject | None) -> Malformed | None:
    """The error of an object that cannot be decoded, as no admission of ours saw it; None if it can be."""
    kind = None if stored is None else kind_of(stored.ref[:2])
    if stored is None or kind is None:
        return None
    try:
        stored.as_type(kind.model)
    except ValidationError as error:
        problem, _, place = str(error).partition(" - at `$.")
        message = f"{place.rstrip('`')}: {problem}" if place else problem
        return Malformed(f"the object is not valid: {message}", hint="correct it, and apply it again")
    return None
