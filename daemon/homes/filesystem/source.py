"""The source of the wanted objects of a host home: folders of manifests, or another home.

The home restores what an earlier run left and hands its parts over; the source applies what is wanted, at the
start and from then on.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import (
    HomeProblem,
    IssuedTokens,
    ManifestPlace,
    StoredObject,
    WatchEventType,
)
from syncret.daemon.homes.filesystem.manifests.apply import ManifestApplier, RestoredState
from syncret.daemon.homes.filesystem.state.writer import StateJournal

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.release.hosted import HostedRelease


class SourceParts(Struct, frozen=True, kw_only=True):
    """The parts of the home that a source works with."""

    applier: ManifestApplier
    journal: StateJournal
    former: RestoredState
    """The content of the state file."""
    state_file: str | None
    salt: bytes
    """Goes into digests of manifests."""
    on_looked: Callable[[], None]
    """Called after each look that applied something, and when the problems change."""
    announce: Callable[[WatchEventType, StoredObject], None]
    """Announces an object that the home does not hold to the watchers."""


class ObjectSource(IssuedTokens, Protocol):
    """Applies the objects that are wanted from another place, and reads there what they refer to."""

    @property
    def problems(self) -> Sequence[HomeProblem]:
        """Problems of manifests, or of the place where they are."""
        ...

    @property
    def releases(self) -> "Sequence[HostedRelease]":
        """The releases among the manifests."""
        ...

    @property
    def waiting_deletions(self) -> int:
        """How many objects are missing there, and not deleted yet."""
        ...

    async def start(self) -> None:
        """Restore what an earlier run left, and apply what is wanted. Raises HomeUnusable."""
        ...

    async def run(self) -> None:
        """Follow, until cancelled."""
        ...

    async def aclose(self) -> None:
        """Close everything; also after a failed start."""
        ...

    async def look(self, touched: Collection[str] = ()) -> None:
        """Apply what changed, durably. `touched` names files that have changed."""
        ...

    async def read(self, ref: ObjectRef) -> StoredObject | None:
        """An object that the wanted ones may refer to, and none of them. Raises StorageUnavailable."""
        ...

    def reported(self, stored: StoredObject) -> None:
        """Take note of an object with a new status."""
        ...

    def place_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """The manifest of an object; None if no file defines it."""
        ...

    async def field_place(self, ref: ObjectRef, field: str, text_line: int) -> ManifestPlace | None:
        """The place of a field in the manifest of an object, or of a line within its text."""
        ...


OpenSource: TypeAlias = Callable[[SourceParts], ObjectSource]
