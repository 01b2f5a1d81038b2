"""Takes the wanted objects of a host home from another home, such as a cluster's.

Only the contract of the other home is used: it is watched, references are read there by name, and it issues
tokens. Nothing but statuses is written to it, and these only if the settings say so.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Final

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.meta import GroupKind, ObjectRef, member
from syncret.config.resources.kinds import EXTERNAL_SECRET, SECRET_STORE
from syncret.config.schema.admission import Admission
from syncret.daemon.homes.contract import (
    Home,
    HomeProblem,
    HomeUnusable,
    ManifestPlace,
    StorageUnavailable,
    StoredObject,
    WatchEvent,
    WatchEventType,
)
from syncret.daemon.homes.filesystem.manifests.reader import Manifest
from syncret.daemon.homes.filesystem.manifests.snapshot import Snapshot
from syncret.daemon.homes.filesystem.source import ObjectSource, SourceParts
from syncret.daemon.homes.filesystem.state.database import trusting
from syncret.daemon.homes.sidecar.manifests import Wanted, wanted
from syncret.daemon.homes.sidecar.references import References
from syncret.daemon.homes.sidecar.status_reports import StatusReports
from syncret.providers.contract import IssuedToken

KINDS: Final = (EXTERNAL_SECRET.group_kind, SECRET_STORE.group_kind)
"""The kinds that are taken from the other home, and Deliveries if the settings say so."""

FIRST_START: Final = 30.0
"""Seconds within which the objects must have been read at a first start."""

RESTART: Final = 5.0
"""Seconds for which a restart waits for them; then the restored objects are in force until they are read."""


class Upstream:
    """Opens sources on another home, which has to be followed and closed by the caller."""

    def __init__(
        self,
        home: Home,
        catalog: Catalog,
        *,
        kinds: Collection[GroupKind] = KINDS,
        every: float,
        reports: bool,
    ) -> None:
        """`kinds` are those of the wanted objects.

        `every` so many seconds it is looked whether what they refer to has changed. `reports`: statuses are
        written there, too.
        """
        self.home = home
        self.kinds = kinds
        self.admission = Admission(catalog)
        self.every = every
        self.reports = reports
        self.on_problems: Callable[[], None] = lambda: None
        """To be called when the problems of the home are others."""

    def source(self, parts: SourceParts) -> ObjectSource:
        """The source of a host home."""
        return UpstreamSource(self, parts)


class UpstreamSource:
    """Implements `ObjectSource` on the contract of a home."""

    def __init__(self, upstream: Upstream, parts: SourceParts) -> None:
        upstream.on_problems = parts.on_looked
        self._upstream = upstream
        self._parts = parts
        self._unread = set(upstream.kinds)
        """Kinds that are not listed, or cannot be watched now: absence means nothing."""
        self._lost = False
        """Whether one of them cannot be watched."""
        self._stored: dict[ObjectRef, StoredObject] = {}
        self._wanted: dict[ObjectRef, Wanted] = {}
        self._replaced: set[ObjectRef] = set()
        """Objects that were deleted and made anew, under the same name."""
        self._failures: Sequence[HomeProblem] = ()
        self._changed = asyncio.Event()
        self._looking = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self._references = References(upstream.home, parts.announce, every=upstream.every)
        self._reports = StatusReports(upstream.home, self._stored.get) if upstream.reports else None

    @property
    def problems(self) -> Sequence[HomeProblem]:
        """Objects that are refused, and what is wrong with the other home."""
        return (*self._failures, *self._upstream.home.problems())

    @property
    def releases(self) -> tuple[()]:
        """None: a cluster has no such kinds."""
        return ()

    @property
    def waiting_deletions(self) -> int:
        """None: the other home announces deletions."""
        return 0

    async def start(self) -> None:
        """Follow the other home, and apply its objects; without it, a restart applies the restored ones."""
        former = self._parts.former.objects
        self._following = asyncio.create_task(self._follow_home(), name="home: follow the API server")
        self._following.add_done_callback(lambda _: self._changed.set())
        await self._first_lists(RESTART if former else FIRST_START)
        if self._unread and not former:
            raise self._unusable()
        snapshot = self._snapshot(self._manifests())
        with trusting(self._parts.state_file):
            self._parts.applier.restore(former, snapshot)
        await self.look()

    async def _first_lists(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._unread and not self._lost:
                    await self._next_change()

    def _unusable(self) -> HomeUnusable:
        problem = next((each.problem for each in self._upstream.home.problems()), None)
        kinds = " and ".join(f"{kind.kind}s" for kind in sorted(self._unread))
        why = "no answer" if problem is None else problem.message
        hint = "install the CRDs, and let the ServiceAccount get, list and watch them in the namespace"
        return HomeUnusable(
            f"{kinds} cannot be read: {why}", hint=hint if problem is None else problem.hint or hint
        )

    async def run(self) -> None:
        """Apply what changes there, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(), name="home: apply what is wanted")
            group.create_task(self._references.run(), name="home: look at what is referred to")
            group.create_task(self._upstream.home.run(), name="home: of the API server")
            if self._reports is not None:
                group.create_task(self._reports.run(), name="home: report statuses")

    async def aclose(self) -> None:
        """Follow no longer."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def _follow(self) -> None:
        """Apply each change; retry from time to time what failed, and objects that were removed here."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._upstream.every):
                    await self._next_change()
            await self.look()

    async def _next_change(self) -> None:
        await self._changed.wait()
        self._changed.clear()
        if self._following is not None and self._following.done():
            self._following.result()  # it never ends by itself: this raises why it did

    async def look(self, touched: Collection[str] = ()) -> None:
        """Apply all events of the other home so far, durably."""
        del touched
        async with self._looking:
            manifests = self._manifests()
            replaced, self._replaced = self._replaced & manifests.keys(), set()
            if replaced:
                left = {ref: each for ref, each in manifests.items() if ref not in replaced}
                await self._parts.applier.apply(self._snapshot(left))
            failures = [*await self._parts.applier.apply(self._snapshot(manifests))]
            self._parts.journal.stale.clear()
            try:
                await self._parts.journal.settled()
            except StorageUnavailable as error:  # tried again at the next look
                failures.append(HomeProblem("state", Problem(path="", message=str(error), hint=error.hint)))
            self._failures = failures
            self._parts.on_looked()

    def _manifests(self) -> Mapping[ObjectRef, Manifest]:
        return {ref: each.manifest for ref, each in self._wanted.items()}

    def _snapshot(self, manifests: Mapping[ObjectRef, Manifest]) -> Snapshot:
        return Snapshot(manifests, unreadable_paths=[kind.kind for kind in self._unread])

    # ----------------------------------------------------------------------------------------- the other home
    async def _follow_home(self) -> None:
        async with aclosing(self._upstream.home.watch()) as events:
            async for event in events:
                self._take(event)
                self._changed.set()

    def _take(self, event: WatchEvent) -> None:
        if event.group_kind not in self._upstream.kinds:
            return
        match event.type, event.object:
            case WatchEventType.LISTED, _:
                self._unread.discard(event.group_kind)
            case WatchEventType.UNKNOWN, _:
                self._lost = True
                self._unread.add(event.group_kind)
            case _, None:
                pass
            case _, stored if self._is_late(stored):
                pass
            case WatchEventType.DELETED, stored:
                self._forget(stored.ref)
            case _, stored:
                self._keep(stored)

    def _is_late(self, stored: StoredObject) -> bool:
        """Whether a newer version has been announced already."""
        held = self._stored.get(stored.ref)
        return held is not None and held.is_newer_than(stored)

    def _forget(self, ref: ObjectRef) -> None:
        self._stored.pop(ref, None)
        self._wanted.pop(ref, None)
        self._replaced.add(ref)

    def _keep(self, stored: StoredObject) -> None:
        if member(stored.document, "metadata").get("deletionTimestamp"):
            self._forget(stored.ref)  # the finalizers that hold it there are others'
            return
        before = self._stored.get(stored.ref)
        if before is not None and before.uid != stored.uid:
            self._replaced.add(stored.ref)
        self._stored[stored.ref] = stored
        self._wanted[stored.ref] = wanted(stored, self._upstream.admission, self._parts.salt)

    # ------------------------------------------------------------------------------------------------ reading
    async def read(self, ref: ObjectRef) -> StoredObject | None:
        """By name; but the target of an ExternalSecret of ours is read from its files, or is absent."""
        if any(each.target == ref for each in self._wanted.values()):
            return None
        return await self._references.read(ref)

    async def issue_token(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        """As `ObjectSource` says: by the other home."""
        return await self._upstream.home.issue_token(account, audiences, seconds)

    def reported(self, stored: StoredObject) -> None:
        """As `ObjectSource` says: it is written to the other home, if the settings say so."""
        if self._reports is not None and stored.ref in self._stored:
            self._reports.add(stored)

    def place_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """None: nothing comes from a file."""
        del ref
        return None

    async def field_place(self, ref: ObjectRef, field: str, text_line: int) -> ManifestPlace | None:
        """None: nothing comes from a file."""
        del ref, field, text_line
        return None
