"""Follows the folders of manifests: applies them at the start, on events, on a timer, and for due deletions.

One look at a time: read what changed, ask which deletions wait, apply the rest, and wait until it is durable.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from syncret.config.errors import Problem
from syncret.config.manifests.loader import shown_name
from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeProblem, ManifestPlace, StorageUnavailable, StoredObject
from syncret.daemon.homes.filesystem.manifests.apply import RestoredState, gone
from syncret.daemon.homes.filesystem.manifests.empty_paths import EmptyPathGuard
from syncret.daemon.homes.filesystem.manifests.events import folder_events
from syncret.daemon.homes.filesystem.manifests.folders import ManifestFolders
from syncret.daemon.homes.filesystem.manifests.reader import Manifest
from syncret.daemon.homes.filesystem.manifests.snapshot import DeletionGrace, Snapshot
from syncret.daemon.homes.filesystem.manifests.systemd_credentials import read_credentials
from syncret.daemon.homes.filesystem.service_accounts import issue_token
from syncret.daemon.homes.filesystem.source import SourceParts
from syncret.daemon.homes.filesystem.state.database import trusting
from syncret.daemon.short_turns import short_turns
from syncret.providers.contract import IssuedToken

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.release.hosted import HostedRelease

_QUICK = 256 * 1024
"""Bytes of a small file. Small files are applied before larger ones are read."""


class Following(Struct, frozen=True, kw_only=True):
    """The settings of a follower: the paths, and how often they are scanned."""

    paths: Sequence[str]
    credentials: str | None
    """Systemd's `$CREDENTIALS_DIRECTORY`."""
    rescan: float
    debounce: float
    grace: DeletionGrace | EmptyPathGuard
    """Which deletions wait, or are refused."""
    environment: Mapping[str, str]
    """Shows whether this is a pod, whose API server issues tokens."""


class ManifestFollower:
    """Implements `ObjectSource` on folders of manifests."""

    def __init__(
        self,
        following: Following,
        folders: ManifestFolders,
        parts: SourceParts,
        *,
        now: Callable[[], float],
    ) -> None:
        self._following = following
        self._folders = folders
        self._former = parts.former
        self._state_file = parts.state_file
        self._salt = parts.salt
        self._applier = parts.applier
        self._journal = parts.journal
        self._now = now
        self._on_looked = parts.on_looked
        self._grace = following.grace
        self._manifests: Mapping[ObjectRef, Manifest] = {}
        self._failed = False
        self._rescheduled = asyncio.Event()
        self._looking = asyncio.Lock()
        self.problems: Sequence[HomeProblem] = ()
        """Problems of files as of the last look, and warnings about deletions that wait."""
        self.releases: Sequence[HostedRelease] = ()
        """The releases among the manifests, as of the last look."""

    @property
    def waiting_deletions(self) -> int:
        """How many objects are missing from the manifests and not deleted yet."""
        return len(self._grace.waiting)

    def place_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """The manifest of an object, also of one whose file was not read again at the start."""
        found = self._manifests.get(ref)
        if found is None:
            return None
        return ManifestPlace(shown_name(found.file), found.line, is_valid=ref not in self._applier.refused)

    async def field_place(self, ref: ObjectRef, field: str, text_line: int) -> ManifestPlace | None:
        """The place of a field of an object, or of a line within its text, in its present file."""
        place, manifest = self.place_of(ref), self._manifests.get(ref)
        if place is None or manifest is None or not place.is_valid:
            return place
        line = await asyncio.to_thread(self._folders.line_of, manifest, field, text_line)
        return place._replace(line=line)

    async def start(self) -> None:
        """Restore the state file, and apply the folders. Raises StateError if it is damaged."""
        former, self._former = self._former, RestoredState([], {})  # thousands of objects may go now
        await asyncio.to_thread(self._folders.refresh)
        snapshot = self._snapshot()
        applied = [(ref, record.applied) for ref, record in former.objects if record.applied is not None]
        snapshot = self._with_waiting(snapshot, gone(applied, snapshot), of=len(applied))
        with trusting(self._state_file):
            self._applier.restore(former.objects, snapshot)
        await self._apply(snapshot)
        await self._journal.settled()

    async def run(self) -> None:
        """Look whenever something happens or may have been missed, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(), name="home: follow the manifests")
            group.create_task(self._delete_when_due(), name="home: delete what waited")

    async def aclose(self) -> None:
        """Folders are open only while they are looked at."""

    async def read(self, ref: ObjectRef) -> StoredObject | None:
        """None: all that is referred to is among the manifests."""
        del ref
        return None

    async def issue_token(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        """As `ObjectSource` says: in a pod its API server's, elsewhere refused."""
        environment = self._following.environment
        return await issue_token(account, audiences, seconds, environment=environment)

    def reported(self, stored: StoredObject) -> None:
        """Do nothing: a status is not written into a manifest."""

    async def _follow(self) -> None:
        following = self._following
        async with aclosing(
            folder_events(following.paths, rescan=following.rescan, debounce=following.debounce)
        ) as times:
            async for touched in times:
                await self.look(touched)

    async def _delete_when_due(self) -> None:
        """Scan the folders when a deletion is due: no event comes at that time."""
        while True:
            self._rescheduled.clear()
            try:
                async with asyncio.timeout_at(self._grace.next_due):
                    await self._rescheduled.wait()
            except TimeoutError:
                await self.look()

    async def look(self, touched: Collection[str] = ()) -> None:
        """Scan the folders now, and apply what changed, durably.

        Objects that seem to be gone are checked a moment later: a file that is being replaced is not deleted.
        """
        async with self._looking:
            await self._look(touched)
            if self._journal.stale:  # the document of an object that is to be created again was dropped
                await self._look()

    async def _look(self, touched: Collection[str] = ()) -> None:
        self._folders.distrust(self._journal.stale)
        touched = {*touched, *self._journal.stale}
        self._journal.stale.clear()
        changed = await asyncio.to_thread(self._folders.refresh, touched, largest=_QUICK)
        if self._folders.postponed:
            if changed:
                await self._take(touched)
            with short_turns():
                changed = await asyncio.to_thread(self._folders.refresh, self._folders.postponed)
        due = self._grace.is_due(asyncio.get_running_loop().time())
        if changed or due or self._failed or self._following.credentials:
            await self._take(touched)

    async def _take(self, touched: Collection[str]) -> None:
        """Apply the folders as they are now."""
        snapshot = self._snapshot()
        if self._applier.deleted(snapshot):
            await asyncio.sleep(self._following.debounce)
            await asyncio.to_thread(self._folders.refresh, touched)
            snapshot = self._snapshot()
        missing = self._applier.deleted(snapshot)
        await self._apply(self._with_waiting(snapshot, missing, of=self._applier.count))

    def _with_waiting(self, snapshot: Snapshot, missing: Mapping[ObjectRef, str], *, of: int) -> Snapshot:
        """The snapshot with those of the missing objects that are not to be deleted yet."""
        now = asyncio.get_running_loop().time()
        waiting = self._grace.missing(missing, of, snapshot, now=now, wall=self._now())
        self._rescheduled.set()
        return structs.replace(snapshot, waiting=waiting)

    def _snapshot(self) -> Snapshot:
        snapshot = self._folders.snapshot()
        folder = self._following.credentials
        if folder is not None:
            snapshot = snapshot.joined(folder, *read_credentials(folder, self._salt))
        self._journal.forgotten = {ref for ref, one in snapshot.manifests.items() if one.file == folder}
        return snapshot

    async def _apply(self, snapshot: Snapshot) -> None:
        failures = await self._applier.apply(snapshot)
        self._failed = bool(failures)
        problems = [*snapshot.problems, *self._grace.problems(), *failures]
        self._applier.remember(self._folders)
        released = self._folders.release(self._applier.applied(snapshot))
        self._manifests = {**snapshot.manifests, **released}
        try:
            await self._journal.settled()
        except StorageUnavailable as error:  # tried again at the next look
            self._failed = True
            problem = Problem(path="", message=str(error), hint=error.hint)
            problems.append(HomeProblem(self._state_file or "", problem))
        self.problems = problems
        self.releases = snapshot.releases
        self._on_looked()
