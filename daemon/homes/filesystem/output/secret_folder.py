"""Each Secret is a folder, `<output>/<namespace>/<name>/`; its keys are files, and they change all at once.

A new set is built in a hidden folder beside the old one. Owner, group and mode are right before a name
appears; files whose content did not change are the same files (hard links: same inode, same mtime); then the
two folders swap names in one system call, and the old one is removed a second later: a program that has
opened it reads it to the end. So a reader finds the whole old set or the whole new one, and a crash leaves
one of them, plus a hidden folder that the next start removes.

On a file system that cannot swap folders (`swaps` is False) each file is replaced at once, the set is not.

A write is a sequence of steps (see `group_commit`): built; on the disk; renamed; the name on the disk.
"""

import errno
import os
import stat
from collections.abc import Mapping
from typing import Final, NamedTuple

from syncret.config.meta import ObjectRef
from syncret.daemon.files.syscalls import CREATE_FILE, OPEN_FOLDER, exchange, linked, listed, write_all
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.output.drift import StatFingerprint, Written, stat_fingerprint
from syncret.daemon.homes.filesystem.output.files import files_in, foreign_owner, names_in, unavailable
from syncret.daemon.homes.filesystem.output.group_commit import Batch, WriteSteps
from syncret.daemon.homes.filesystem.output.leftovers import discard
from syncret.daemon.homes.filesystem.output.names import check_keys, folder_of, is_key, secret_name
from syncret.daemon.homes.filesystem.output.root import OutputRoot

_TRIES = 100
_PAUSE_EVERY: Final = 64
"""Files of a set. A stop must not wait for thousands, each of which waits for the disk."""

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


class SecretFolder:
    """Writes, reads and removes the folders of Secrets. One writer at a time for each Secret."""

    def __init__(self, tree: OutputRoot) -> None:
        self.tree = tree
        self._settings = tree.settings
        self._swaps = tree.swaps

    @property
    def swaps(self) -> bool:
        """Whether whole sets are swapped at once; where not, say so in the log."""
        return self._swaps

    def write(self, ref: ObjectRef, data: Mapping[str, bytes], batch: Batch) -> WriteSteps[Written]:
        """Make the folder hold exactly this; where it already does, modes and owners too, nothing changes.

        Raises Invalid for a key that cannot be a file and StorageUnavailable where the disk refuses; the old
        set then stands as it was.
        """
        check_keys(ref, data.keys())
        try:
            try:
                return (yield from self._write(ref, data, batch))
            except OSError as error:
                if error.errno not in _NO_ROOM or not self.tree.keeps_sets:
                    raise
            self.tree.remove_sets(now=True)
            return (yield from self._write(ref, data, batch))
        except OSError as error:
            raise unavailable(error, self.tree.path_of(ref)) from error

    def _write(self, ref: ObjectRef, data: Mapping[str, bytes], batch: Batch) -> WriteSteps[Written]:
        name = secret_name(ref)
        place = _Place(batch, folder_of(ref), name)
        old = _opened(name, place.folder)
        if old is None:
            return Written(changed=True, fingerprints=(yield from self._create(place, data)))
        try:
            return (yield from self._replace(place, old, data, self.tree.path_of(ref)))
        finally:
            os.close(old)

    def exists(self, ref: ObjectRef) -> bool:
        """Whether there is a folder of ours under that name."""
        return self.tree.holds(ref, stat.S_ISDIR)

    def load(self, ref: ObjectRef) -> dict[str, bytes] | None:
        """The present content of the folder; None if there is none. Names that cannot be keys are skipped."""
        name, path = secret_name(ref), self.tree.path_of(ref)
        try:
            with self.tree.namespace(ref) as namespace:
                for _ in range(_TRIES):
                    data, whole = self._load(namespace, name, path)
                    if whole:
                        return data
        except FileNotFoundError:
            return None
        raise StorageUnavailable(
            f"{path}: the folder is being replaced all the time",
            hint="find the program that does it",
        )

    def remove(self, ref: ObjectRef) -> bool:
        """Remove the whole set at once; False if there is none."""
        name, path = secret_name(ref), self.tree.path_of(ref)
        try:
            with self.tree.namespace(ref) as namespace:
                folder = os.open(name, OPEN_FOLDER, dir_fd=namespace)
                try:
                    self._check_ours(folder, path)
                    names_in(folder, path)
                finally:
                    os.close(folder)
                hidden = self.tree.temporary()
                os.rename(name, hidden, src_dir_fd=namespace, dst_dir_fd=namespace)
                discard(namespace, hidden)
                if self._settings.fsync:
                    os.fsync(namespace)
        except FileNotFoundError:
            return False
        return True

    def _load(self, namespace: int, name: str, path: str) -> tuple[dict[str, bytes], bool]:
        """The data, and whether the folder stood under its name all the while: a swap removes the old one."""
        folder = os.open(name, OPEN_FOLDER, dir_fd=namespace)
        try:
            opened = self._check_ours(folder, path)
            data = {key: content for key, (_, content) in files_in(folder).items() if is_key(key)}
        finally:
            os.close(folder)
        found = os.stat(name, dir_fd=namespace, follow_symlinks=False)
        return data, (found.st_ino, found.st_dev) == (opened.st_ino, opened.st_dev)

    def _check_ours(self, folder: int, path: str) -> os.stat_result:
        status = os.fstat(folder)
        if status.st_uid not in self.tree.owners:
            raise foreign_owner(path, status.st_uid)
        return status

    def _create(self, place: "_Place", data: Mapping[str, bytes]) -> WriteSteps[dict[str, StatFingerprint]]:
        hidden = self.tree.temporary()
        os.mkdir(hidden, 0o700, dir_fd=place.folder)
        try:
            fingerprints = yield from self._fill(place, hidden, data, -1, {})
            os.rename(hidden, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        except BaseException:  # tidied up after, and raised again
            discard(place.folder, hidden)
            raise
        yield from self._named(place)
        return fingerprints

    def _named(self, place: "_Place") -> WriteSteps[None]:
        """Wait until the set's name is on the disk."""
        if self._settings.fsync:
            place.batch.renamed(place.namespace)
            yield
            place.batch.sync(place.namespace)

    def _replace(
        self, place: "_Place", old: int, data: Mapping[str, bytes], path: str
    ) -> WriteSteps[Written]:
        status = self._check_ours(old, path)
        names = names_in(old, path)
        files = files_in(old)
        mode = self._settings.file_mode
        kept = {
            key: stat_fingerprint(found)
            for key, (found, content) in files.items()
            if data.get(key) == content and self.tree.has_owner(found, mode)
        }
        if len(kept) == len(data) == len(names) and self.tree.has_owner(status, self._settings.folder_mode):
            return Written(changed=False, fingerprints={"": stat_fingerprint(status), **kept})
        fingerprints = (yield from self._swap(place, old, data, kept)) if self._swaps else None
        if fingerprints is None:
            self._swaps = False
            fingerprints = self._each(old, data, kept, names)
        return Written(changed=True, fingerprints=fingerprints)

    def _swap(
        self, place: "_Place", old: int, data: Mapping[str, bytes], kept: Mapping[str, StatFingerprint]
    ) -> WriteSteps[dict[str, StatFingerprint] | None]:
        """Put a new folder in the place of the old one; None where this file system cannot."""
        hidden, swapped = self.tree.temporary(), False
        os.mkdir(hidden, 0o700, dir_fd=place.folder)
        try:
            fingerprints = yield from self._fill(place, hidden, data, old, kept)
            swapped = exchange(place.folder, hidden, place.name)
            if swapped:
                yield from self._named(place)
        finally:
            if swapped:
                self.tree.keep_set(place.namespace, hidden)
            else:
                discard(place.folder, hidden)
        return fingerprints if swapped else None

    def _fill(
        self,
        place: "_Place",
        hidden: str,
        data: Mapping[str, bytes],
        old: int,
        kept: Mapping[str, StatFingerprint],
    ) -> WriteSteps[dict[str, StatFingerprint]]:
        """Build the set, and wait until it is on the disk."""
        fingerprints: dict[str, StatFingerprint] = {}
        waiting: list[int] = []
        folder = os.open(hidden, OPEN_FOLDER, dir_fd=place.folder)
        try:
            for count, (key, content) in enumerate(data.items(), 1):
                if count % _PAUSE_EVERY == 0:
                    yield
                if key in kept and linked(old, folder, key):
                    fingerprints[key] = kept[key]
                    continue
                fd, fingerprints[key] = self._written(folder, key, content)
                if self._settings.fsync and place.batch.may_wait(fd):
                    waiting.append(fd)
                else:
                    self._settle(fd)
            fingerprints[""] = self._owned(folder)
            if self._settings.fsync:
                yield
                for fd in waiting:
                    os.fsync(fd)
                os.fsync(folder)
                yield
        finally:
            for fd in waiting:
                os.close(fd)
            os.close(folder)
        return fingerprints

    def _written(self, folder: int, name: str, content: bytes) -> tuple[int, StatFingerprint]:
        """A new file, still open."""
        fd = os.open(name, CREATE_FILE, 0o600, dir_fd=folder)
        try:
            self.tree.set_owner(fd, self._settings.file_mode)
            write_all(fd, content)
            return fd, stat_fingerprint(os.fstat(fd))
        except BaseException:  # closed, and raised again
            os.close(fd)
            raise

    def _owned(self, folder: int) -> StatFingerprint:
        self.tree.set_owner(folder, self._settings.folder_mode)
        return stat_fingerprint(os.fstat(folder))

    def _settle(self, fd: int) -> None:
        """Close a file, once it is on the disk."""
        try:
            if self._settings.fsync:
                os.fsync(fd)
        finally:
            os.close(fd)

    def _each(
        self, folder: int, data: Mapping[str, bytes], kept: Mapping[str, StatFingerprint], names: set[str]
    ) -> dict[str, StatFingerprint]:
        fingerprints = dict(kept)
        for key in data.keys() - kept.keys():
            hidden = self.tree.temporary()
            try:
                fd, fingerprints[key] = self._written(folder, hidden, data[key])
                self._settle(fd)
                os.rename(hidden, key, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:  # tidied up after, and raised again
                if hidden in listed(folder):
                    os.unlink(hidden, dir_fd=folder)
                raise
        for name in names - data.keys():
            os.unlink(name, dir_fd=folder)
        fingerprints[""] = self._owned(folder)
        if self._settings.fsync:
            os.fsync(folder)
        return fingerprints


class _Place(NamedTuple):
    """The place of a set: its name in the folder of its namespace, which the batch holds open."""

    batch: Batch
    namespace: str
    name: str

    @property
    def folder(self) -> int:
        return self.batch.folder(self.namespace)


def _opened(name: str, parent: int) -> int | None:
    try:
        return os.open(name, OPEN_FOLDER, dir_fd=parent)
    except FileNotFoundError:
        return None
