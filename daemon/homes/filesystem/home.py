"""The host home: a simulated cluster whose wanted objects come from folders and whose written ones are files.

All semantics (versions, conflicts, admission, owners, finalizers) are those of `MemoryCluster`. What is added
here: where objects come from (`wanted`), where Secrets and other written objects go (`outputs`), and what
survives the process (`state`).
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import msgspec

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem, Severity
from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.settings import BoundFolder
from syncret.daemon.descriptors import descriptors
from syncret.daemon.homes.contract import (
    HomeProblem,
    ManifestPlace,
    StorageUnavailable,
    StoredObject,
    Watch,
)
from syncret.daemon.homes.filesystem.manifests.apply import ManifestApplier, restored_state
from syncret.daemon.homes.filesystem.manifests.bindings import Bindings
from syncret.daemon.homes.filesystem.manifests.empty_paths import EmptyPathGuard
from syncret.daemon.homes.filesystem.manifests.folders import ManifestFolders
from syncret.daemon.homes.filesystem.manifests.follower import Following, ManifestFollower
from syncret.daemon.homes.filesystem.manifests.reader import ManifestReader
from syncret.daemon.homes.filesystem.manifests.snapshot import DeletionGrace
from syncret.daemon.homes.filesystem.output.content import OutputContent
from syncret.daemon.homes.filesystem.output.group_commit import BatchExecutor, Sizes
from syncret.daemon.homes.filesystem.output.put_back import put_back
from syncret.daemon.homes.filesystem.output.root import OutputRoot, OutputSettings
from syncret.daemon.homes.filesystem.output.writer import OutputWriter
from syncret.daemon.homes.filesystem.source import ObjectSource, OpenSource, SourceParts
from syncret.daemon.homes.filesystem.state.database import StateContents, read_state, trusting
from syncret.daemon.homes.filesystem.state.writer import OnDeleted, OnRemoved, StateJournal, StateWriter
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import AdmissionPlugin
from syncret.daemon.private_paths import first_exposed
from syncret.providers.contract import IssuedToken

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.cache.cache import OfflineCache
    from syncret.daemon.release.hosted import HostedRelease

Result = TypeVar("Result")

_NO_SWAP: Final = Problem(
    path="",
    message="this file system cannot swap folders: readers may see a mixture of old and new files",
    severity=Severity.WARNING,
)


_KEY_SIZE: Final = 16
_SOON = 5.0  # when written files are inspected first, for modes and owners of new settings


class HostSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a host home. Without an output folder or a state file, that part is in memory."""

    manifests: Sequence[str]
    bound: Sequence[BoundFolder] = ()
    """Those of the manifests that are bound to namespaces and kinds."""
    output_dir: str | None = None
    state_file: str | None = None
    output: OutputSettings = msgspec.field(default_factory=OutputSettings)
    credentials: str | None = None
    """Systemd's `$CREDENTIALS_DIRECTORY`."""
    rescan: float = 45.0
    debounce: float = 0.1
    deletion_grace: float = 60.0
    """How long most objects, or all of a file, must be missing until they are deleted."""
    dry: bool = False
    """Start from the state and the files that are there, and write neither."""
    once: bool = False
    """The manifests are read once and not followed."""
    allow_empty: bool = False
    """With `once`: objects of paths that contain no manifests any more are deleted."""
    environment: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """Shows whether this is a pod, and where its API server is."""


class HostHome:
    """Implements `Home`. Use it as an async context, and let a task `run()` it to follow the folders."""

    def __init__(
        self,
        settings: HostSettings,
        *,
        catalog: Catalog,
        admission: AdmissionPlugin,
        now: Callable[[], float],
        on_problems: Callable[[Sequence[HomeProblem]], None],
        on_removed: OnRemoved | None = None,
    ) -> None:
        """`on_problems` is given all problems of all files whenever they are not the same as before.

        `on_removed` is called with each written object that is removed: in a dry home, that would be.
        """
        self._settings = msgspec.structs.replace(
            settings,
            manifests=[_absolute(path) for path in settings.manifests],
            bound=[msgspec.structs.replace(each, path=_absolute(each.path)) for each in settings.bound],
        )
        self._catalog = catalog
        self._admission = admission
        self._now = now
        self._on_problems = on_problems
        self._on_removed = on_removed
        self.open_source: OpenSource = self._folders
        """Opens the source of the wanted objects; may be replaced before the start."""
        self.on_deleted: OnDeleted | None = None
        """Called with each object that is deleted, also with its owner. Set it before the start."""
        self.cache: OfflineCache | None = None
        """Holds outputs whose files may be missing at the start. Set it before the start."""
        self.digest_key = b""
        """The key of the digests of delivered values: without it, values cannot be tried against them."""
        self._reported: Sequence[HomeProblem] = ()
        self._exposed: Problem | None = None
        self._hidden_state: Problem | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Restore the state file, and apply the folders. Raises StateError and StorageUnavailable."""
        async with AsyncExitStack() as stack:
            self._state, remembered = self._open_state(stack)
            tree = self._open_tree(stack)
            sizes = Sizes.within(descriptors().writes)
            self._outputs = OutputContent(tree, writes=not self._settings.dry, sizes=sizes)
            self._journal = StateJournal(self._state, self._outputs, self._on_removed, self._deleted)
            self._cluster = MemoryCluster(
                now=self._now, admission=self._admission, journal=self._journal, contents=self._outputs
            )
            waits = tree is not None and self._settings.output.fsync
            executor = stack.enter_context(BatchExecutor(self._outputs.work, sizes)) if waits else None
            self._writer = OutputWriter(self._cluster, self._outputs, self._journal, executor)
            applier = ManifestApplier(self._cluster, self._outputs, self._journal, self._writer)
            with trusting(self._settings.state_file):
                former = restored_state(remembered.rows)
            if self.cache is not None:
                put_back(self.cache, self._outputs, former.objects)
            parts = SourceParts(
                applier=applier,
                journal=self._journal,
                former=former,
                state_file=self._settings.state_file,
                salt=remembered.salt,
                on_looked=self._report,
                announce=self._cluster.broadcaster.publish,
            )
            self.digest_key = remembered.salt or os.urandom(_KEY_SIZE)
            del remembered, former
            self._source = self.open_source(parts)
            stack.push_async_callback(self._source.aclose)
            await self._source.start()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Write what is left, and release files and locks."""
        await self._stack.aclose()

    def _deleted(self, ref: ObjectRef) -> None:
        if self.cache is not None:
            self.cache.forget_output(ref)
        if self.on_deleted is not None:
            self.on_deleted(ref)

    # ------------------------------------------------------------------------------------------------ folders
    async def run(self) -> None:
        """Follow the folders, and inspect the written files, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._source.run(), name="home: follow what is wanted")
            group.create_task(self._inspect(), name="home: inspect the written files")
            group.create_task(self._writer.remove_replaced_sets(), name="home: remove replaced sets")

    async def look(self, touched: Collection[str] = ()) -> None:
        """Scan the folders now, and apply what changed, durably."""
        await self._source.look(touched)

    @property
    def releases(self) -> "Sequence[HostedRelease]":
        """The releases among the manifests, which it renders itself."""
        return self._source.releases

    @property
    def waiting_deletions(self) -> int:
        """As `Home` says: what is missing from the manifests waits for the grace period."""
        return self._source.waiting_deletions

    async def _inspect(self) -> None:
        pause = max(self._settings.rescan, 1.0)
        await asyncio.sleep(min(pause, _SOON))
        while True:
            cost = await self.inspect()
            # Ten thousand objects take thirty thousand `stat`s: a thousandth of the time is enough for it.
            await asyncio.sleep(max(pause, 1000 * cost))

    async def inspect(self) -> float:
        """Look for written files that were changed from outside: repair their modes, and announce the drift.

        Returns the processor time that it took. Raises StateError if the state file itself is gone, and
        StorageUnavailable if the output folder was replaced by one that cannot be written to.
        """
        self._hidden_state = None if self._state is None else self._state.check()
        touched, cost = await asyncio.to_thread(_timed, self._outputs.drifted)
        for ref in touched:
            await self._writer.repair(ref)
        self._report()
        return cost

    def _report(self) -> None:
        found = self.problems()
        if found != self._reported:
            self._reported = found
            self._on_problems(found)

    def _open_state(self, stack: AsyncExitStack) -> tuple[StateWriter | None, StateContents]:
        path = self._settings.state_file
        if path is None:
            return None, StateContents()
        if self._settings.dry:
            return None, read_state(path)
        state = StateWriter(path, fsync=self._settings.output.fsync)
        stack.push_async_callback(state.aclose)
        return state, state.remembered()

    def _folders(self, parts: SourceParts) -> ObjectSource:
        """The folders of the settings."""
        settings = self._settings
        folders = ManifestFolders(
            settings.manifests,
            ManifestReader(self._catalog, parts.salt),
            bindings=Bindings(settings.bound) if settings.bound else None,
            skip=settings.output_dir,
            remembered=parts.former.files,
            once=settings.once,
            former=bool(parts.former.objects),
        )
        following = Following(
            paths=settings.manifests,
            credentials=settings.credentials,
            rescan=settings.rescan,
            debounce=settings.debounce,
            grace=EmptyPathGuard(settings.manifests, allow_empty=settings.allow_empty)
            if settings.once
            else DeletionGrace(settings.deletion_grace),
            environment=settings.environment,
        )
        return ManifestFollower(following, folders, parts, now=self._now)

    def _open_tree(self, stack: AsyncExitStack) -> OutputRoot | None:
        path, dry = self._settings.output_dir, self._settings.dry
        if path is None or (dry and not Path(path).exists()):
            return None
        if any(Path(one).resolve() == Path(path).resolve() for one in self._settings.manifests):
            raise StorageUnavailable(
                f"{path}: manifests are read from this folder, so nothing can be written to it",
                hint="choose an output folder of its own",
            )
        tree = OutputRoot(path, self._settings.output, read_only=dry)
        stack.callback(tree.close)
        self._exposed = first_exposed(path, owners=tree.owners)
        return tree

    # --------------------------------------------------------------------------------------------------- home
    @property
    def writes_at_once(self) -> int:
        """Writes wait for the disk together: the more there are, the fewer waits each of them needs."""
        return sys.maxsize

    def kinds(self) -> Collection[GroupKind]:
        """As `Home` says: any kind."""
        return self._cluster.kinds()

    def watch(self) -> Watch:
        """As `Home` says."""
        return self._cluster.watch()

    async def announced(self) -> None:
        """As `Home` says."""
        await self._cluster.announced()

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """As `Home` says; the data of a written Secret is what its files hold now."""
        return await self._cluster.get(ref) or await self._source.read(ref)

    def is_unchanged(self, ref: ObjectRef) -> bool:
        """As `Home` says, by the `stat` of the files."""
        return self._outputs.is_unchanged(ref)

    def is_absent(self, ref: ObjectRef) -> bool:
        """As `Home` says: never known; a `get` is cheap here."""
        del ref
        return False

    async def list(
        self, group_kind: GroupKind, *, namespace: str | None = None, selector: LabelSelector | None = None
    ) -> Sequence[StoredObject]:
        """As `Home` says."""
        return await self._cluster.list(group_kind, namespace=namespace, selector=selector)

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As `Home` says; the files are there when it returns."""
        prepare = partial(self._cluster.prepare_create, document, field_manager=field_manager)
        return await self._writer.write(prepare)

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As `Home` says; a Secret of a manifest that is updated becomes files, too."""
        prepare = partial(self._cluster.prepare_update, document, field_manager=field_manager)
        return await self._writer.write(prepare)

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        """As `Home` says."""
        return await self._writer.write(partial(self._cluster.prepare_finalizers, seen, finalizers))

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        """As `Home` says; it is on the disk when this returns."""
        stored = await self._cluster.update_status(seen, status)
        if stored is not None and stored.resource_version != seen.resource_version:
            self._source.reported(stored)
        return await self._writer.durable(stored)

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        """As `Home` says; the files are gone when it returns."""
        return await self._writer.delete(seen)

    async def check_durable(self) -> None:
        """As `Home` says: a commit that failed is tried again."""
        if self._journal.is_failing:
            await self._journal.settled()

    def may_mark(self, ref: ObjectRef) -> bool:
        """Only objects that are outputs already: a write would make files of any other."""
        return ref in self._outputs

    def owns(self, ref: ObjectRef) -> bool:
        """As `Home` says: always, the state file has one process."""
        del ref
        return True

    def is_behind(self, group_kind: GroupKind) -> bool:
        """As `Home` says: there is one replica."""
        del group_kind
        return False

    async def ownership_changed(self) -> None:
        """As `Home` says: never."""
        await self._cluster.ownership_changed()

    async def issue_token(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        """As `Home` says: issued by the source of the wanted objects."""
        return await self._source.issue_token(account, audiences, seconds)

    def manifest_of(self, ref: ObjectRef) -> ManifestPlace | None:
        """As `Home` says, also of objects whose file was not read again at the start."""
        return self._source.place_of(ref)

    async def field_place(self, ref: ObjectRef, field: str, text_line: int = 0) -> ManifestPlace | None:
        """As `Home` says: the file is read again, if it is small."""
        return await self._source.field_place(ref, field, text_line)

    def record_event(self, seen: StoredObject, *, warning: bool, reason: str, message: str) -> None:
        """Do nothing: the log shows events."""

    def problems(self) -> Sequence[HomeProblem]:
        """The problems of manifests, the state file and the output folder."""
        of_output = (None if self._outputs.swaps else _NO_SWAP, self._exposed)
        folder = self._settings.output_dir or ""
        found = [HomeProblem(folder, each) for each in of_output if each is not None]
        if self._hidden_state is not None:
            found.append(HomeProblem(self._settings.state_file or "", self._hidden_state))
        return (*self._source.problems, *found, *self._outputs.leftovers())


def _absolute(path: str) -> str:
    return os.path.normpath(Path(path).absolute())


def _timed(look: Callable[[], Result]) -> tuple[Result, float]:
    begin = time.thread_time()
    return look(), time.thread_time() - begin
