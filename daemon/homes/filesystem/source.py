"""Where the wanted objects of a host home come from: folders of manifests, or another home.

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
    """What a source works on."""

    applier: ManifestApplier
    journal: StateJournal
    former: RestoredState
    """What an earlier run left."""
    state_file: str | None
    salt: bytes
    """Goes into digests of manifests."""
    on_looked: Callable[[], None]
    """Called after each look that applied something, and when the problems change."""
    announce: Callable[[WatchEventType, StoredObject], None]
    """Tells the watchers of an object that the home does not hold."""


class ObjectSource(IssuedTokens, Protocol):
    """Keeps what is wanted as it is written down elsewhere, and reads there what it refers to."""

    @property
    def problems(self) -> Sequence[HomeProblem]:
        """What is wrong with what is written down, or with the place."""
        ...

    @property
    def releases(self) -> "Sequence[HostedRelease]":
        """The releases that are written down there."""
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
        """Let go of everything; also after a failed start."""
        ...

    async def look(self, touched: Collection[str] = ()) -> None:
        """Apply what changed; all of it is durable then. `touched` names files that were."""
        ...

    async def read(self, ref: ObjectRef) -> StoredObject | None:
        """An object that is none of the wanted ones and may be referred to. Raises StorageUnavailable."""
        ...

    def reported(self, stored: StoredObject) -> None:
        """Take note of an object with a new status."""
        ...

    def place_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """Where an object is written down; None if no file defines it."""
        ...

    async def field_place(self, ref: ObjectRef, field: str, text_line: int) -> ManifestPlace | None:
        """Where a field of an object is, or a line within its text."""
        ...


OpenSource: TypeAlias = Callable[[SourceParts], ObjectSource]
