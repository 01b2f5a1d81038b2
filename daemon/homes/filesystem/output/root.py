"""The output folder: opened safely, locked, and with one folder in it for each namespace.

Everything below the output folder is reached through open folders (`openat`) without following links, so that
a symbolic link below it cannot redirect a write, a read or a removal.
"""

import errno
import fcntl
import itertools
import os
import stat
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.files.syscalls import OPEN_FOLDER, exchange, identity_of
from syncret.daemon.homes.contract import HomeProblem, StorageUnavailable
from syncret.daemon.homes.filesystem.output.files import foreign_owner, unavailable
from syncret.daemon.homes.filesystem.output.leftovers import Leftovers
from syncret.daemon.homes.filesystem.output.names import TEMPORARY, folder_of, name_of, path_of


class OutputSettings(Struct, frozen=True, kw_only=True):
    """How files are made. Owner and group are left as they come where they are None."""

    folder_mode: int = 0o700
    file_mode: int = 0o600
    uid: int | None = None
    gid: int | None = None
    fsync: bool = True
    exchange: bool = True
    """Whether whole folders may be swapped; False is for file systems that claim to and fail."""


class OutputRoot:
    """The output folder, held open and locked for as long as this object is in use.

    Safe to use from several threads, as long as each object has one writer at a time.
    """

    def __init__(self, path: str, settings: OutputSettings, *, read_only: bool = False) -> None:
        """Open the folder, and make it where it is missing. Raises StorageUnavailable.

        One that is read only is neither made nor locked nor swept, and has to be there.
        """
        self.path = str(Path(path).absolute())
        self.settings = settings
        self._serial = itertools.count()
        self._reopening = threading.Lock()
        self._prefix = f"{TEMPORARY}{os.getpid():x}-"
        self._trusted = {0, os.geteuid(), settings.uid}
        self.owners = {os.geteuid(), settings.uid}
        """The owners of folders that may be replaced or removed."""
        self._leftovers = Leftovers(self._trusted)
        self._root = self._open_root(make=not read_only)
        self.swaps = False
        if read_only:
            return
        try:
            self._lock()
            self.swaps = settings.exchange and self._probe()
            self._leftovers.sweep(self._root, inner=not self.swaps)
        except OSError as error:
            os.close(self._root)
            raise unavailable(error, self.path) from error
        except StorageUnavailable:
            os.close(self._root)
            raise

    def close(self) -> None:
        """Close the folder, which releases its lock."""
        self._leftovers.remove_sets(self._root, now=True)
        os.close(self._root)

    def reopen_if_replaced(self) -> None:
        """Open the folder that is at the path now, if ours was moved away, or mounted over.

        Raises StorageUnavailable where that cannot be written to.
        """
        try:
            there = identity_of(Path(self.path).lstat())
        except FileNotFoundError:
            there = None
        except OSError:  # a write reports it
            return
        with self._reopening:
            ours = os.fstat(self._root)
            removed = ours.st_nlink == 0  # the next write creates it
            if not removed and identity_of(ours) != there:
                self._take_root()

    def remove_leftovers(self) -> None:
        """Try again to remove what earlier runs left behind and the start could not remove."""
        self._leftovers.remove(self._root)

    def leftovers(self) -> Sequence[HomeProblem]:
        """The leftovers that are still there."""
        return self._leftovers.problems(self.path)

    @property
    def keeps_sets(self) -> bool:
        """Whether there are replaced sets to remove."""
        return self._leftovers.keeps_sets

    def keep_set(self, namespace: str, name: str) -> None:
        """Keep a set that was replaced, under its hidden name, for programs that are reading it."""
        self._leftovers.keep_set(self._root, namespace, name)

    def remove_sets(self, *, now: bool = False) -> None:
        """Remove replaced sets that were kept for long enough; `now`: all."""
        self._leftovers.remove_sets(self._root, now=now)

    def temporary(self) -> str:
        """A hidden name that nothing else has."""
        return f"{self._prefix}{next(self._serial):x}"

    def set_owner(self, fd: int, mode: int) -> None:
        """Give an open file or folder its owner, group and mode: before it gets its name."""
        settings = self.settings
        if settings.uid is not None or settings.gid is not None:
            os.fchown(
                fd, -1 if settings.uid is None else settings.uid, -1 if settings.gid is None else settings.gid
            )
        os.fchmod(fd, mode)

    def has_owner(self, status: os.stat_result, mode: int) -> bool:
        """Whether owner, group and mode are as wanted."""
        settings = self.settings
        return (
            stat.S_IMODE(status.st_mode) == mode
            and (settings.uid is None or status.st_uid == settings.uid)
            and (settings.gid is None or status.st_gid == settings.gid)
        )

    def open_namespace(self, name: str, *, create: bool) -> int:
        """An open folder for one namespace; the caller closes it.

        Raises FileNotFoundError where there is none and none is to be made, and StorageUnavailable where what
        stands there is not ours.
        """
        try:
            fd = os.open(name, OPEN_FOLDER, dir_fd=self._root)
        except FileNotFoundError:
            if not create:
                raise
            self._make_namespace(name)
            fd = os.open(name, OPEN_FOLDER, dir_fd=self._root)
        return self._trusting(fd, f"{self.path}/{name}", repair=create)

    @contextmanager
    def namespace(self, ref: ObjectRef, *, create: bool = False) -> Generator[int, None, None]:
        """The open folder of an object's namespace.

        Raises FileNotFoundError, also for what the caller does not find in it, unless the folder is to be
        made; any other OSError becomes StorageUnavailable with the path of the object.
        """
        try:
            folder = self.open_namespace(folder_of(ref), create=create)
            try:
                yield folder
            finally:
                os.close(folder)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not create:
                raise
            raise unavailable(error, self.path_of(ref)) from error

    def path_of(self, ref: ObjectRef) -> str:
        """The whole path of an object's folder or file."""
        return f"{self.path}/{path_of(ref)}"

    def holds(self, ref: ObjectRef, sort: Callable[[int], bool]) -> bool:
        """Whether the output of an object is there, ours, and of that sort; nothing is opened."""
        try:
            with self.namespace(ref) as folder:
                status = os.stat(name_of(ref), dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return sort(status.st_mode) and status.st_uid in self.owners

    def status(self, path: str) -> os.stat_result | None:
        """The status of a path below the output folder; None if there is nothing, or it is not accessible."""
        try:
            return os.stat(path, dir_fd=self._root, follow_symlinks=False)
        except OSError:
            return None

    def _make_namespace(self, name: str) -> None:
        try:
            os.mkdir(name, 0o700, dir_fd=self._root)
        except FileExistsError:  # another thread made it
            return
        except FileNotFoundError:  # the output folder itself was removed under us
            self._reopen_root()
            os.mkdir(name, 0o700, dir_fd=self._root)
        if self.settings.fsync:
            os.fsync(self._root)

    def _reopen_root(self) -> None:
        with self._reopening:
            if os.fstat(self._root).st_nlink == 0:
                self._take_root()

    def _take_root(self) -> None:
        root = self._open_root(make=True)
        os.dup2(root, self._root, inheritable=False)  # other threads may be using the number
        os.close(root)
        self._lock()

    def _open_root(self, *, make: bool) -> int:
        path = Path(self.path)
        try:
            fresh = make and not os.path.lexists(path)
            if fresh:
                path.mkdir(self.settings.folder_mode, parents=True)
            return self._trusting(os.open(self.path, OPEN_FOLDER), self.path, repair=fresh)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG and path.is_symlink():
                raise StorageUnavailable(
                    f"{self.path}: the output folder is a symbolic link",
                    hint=f"name the folder that it leads to: {path.resolve()}",
                ) from error
            raise unavailable(error, self.path) from error

    def _trusting(self, fd: int, path: str, *, repair: bool) -> int:
        """An open folder, unless it is another user's: then it is closed, and StorageUnavailable raised.

        `repair` gives one of ours the owner and mode of the settings: it is new, or they have changed since.
        """
        try:
            status = os.fstat(fd)
            if (
                repair
                and status.st_uid in self.owners
                and not self.has_owner(status, self.settings.folder_mode)
            ):
                self.set_owner(fd, self.settings.folder_mode)
        except OSError:
            os.close(fd)
            raise
        if status.st_uid not in self._trusted:
            os.close(fd)
            raise foreign_owner(path, status.st_uid)
        return fd

    def _lock(self) -> None:
        try:
            fcntl.flock(self._root, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StorageUnavailable(
                f"{self.path}: another syncret writes to this folder",
                hint="stop it, or give each its own output folder",
            ) from error
        except OSError:
            # Some network file systems cannot lock a folder. The lock only guards against a mistake of the
            # operator, so its absence is no reason to refuse the folder.
            return

    def _probe(self) -> bool:
        """Whether this file system can swap two folders; tried once, on two empty ones."""
        one, other = self.temporary(), self.temporary()
        made: list[str] = []
        try:
            for name in (one, other):
                os.mkdir(name, 0o700, dir_fd=self._root)
                made.append(name)
            return exchange(self._root, one, other)
        finally:
            for name in made:
                os.rmdir(name, dir_fd=self._root)
