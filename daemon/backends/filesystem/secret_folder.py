"""Secrets as folders: one is `<output>/<namespace>/<name>/`, its keys are files, and the set changes at once.

A new set is built in a hidden folder beside the old one. Owner, group and mode are right before a name
appears; files whose content did not change are the same files (hard links: same inode, same mtime); then the
two folders swap names in one system call and the old one is removed. A reader finds the whole old set or the
whole new one, and a crash leaves one of them, plus a hidden folder that the next start sweeps away.

On a file system that cannot swap folders (`swaps` is False) each file is replaced at once, the set is not.
"""

import os
import stat
from collections.abc import Mapping

from syncret.config.meta import ObjectRef
from syncret.daemon.backends.contract import TargetUnavailable
from syncret.daemon.backends.filesystem.faces import Face, Written, face
from syncret.daemon.backends.filesystem.names import TEMPORARY, check_keys, folder_of, is_key, secret_name
from syncret.daemon.backends.filesystem.refusals import foreign, unavailable
from syncret.daemon.backends.filesystem.syscalls import exchange
from syncret.daemon.backends.filesystem.tree import (
    CREATE_FILE,
    OPEN_FOLDER,
    OutputTree,
    listed,
    write_all,
)

_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO that somebody put there must not hang us
_TRIES = 100
_MAX_BYTES = 4 << 20  # of one file: more than any Secret may hold, so a longer one is not ours anyway


class SecretFolder:
    """Writes, reads and removes the folders of Secrets. One writer at a time for each Secret."""

    def __init__(self, tree: OutputTree) -> None:
        self._tree = tree
        self._settings = tree.settings
        self._swaps = tree.swaps

    @property
    def swaps(self) -> bool:
        """Whether whole sets are swapped at once; where not, say so in the log."""
        return self._swaps

    def write(self, ref: ObjectRef, data: Mapping[str, bytes]) -> Written:
        """Make the folder hold exactly this; where it already does, modes and owners too, nothing changes.

        Raises Invalid for a key that cannot be a file and TargetUnavailable where the disk refuses; the old
        set then stands as it was.
        """
        check_keys(ref, data.keys())
        name = secret_name(ref)
        try:
            namespace = self._tree.open_namespace(folder_of(ref), create=True)
            try:
                old = _opened(name, namespace)
                if old is None:
                    return Written(changed=True, faces=self._create(namespace, name, data))
                try:
                    return self._replace(namespace, name, old, data, self._path(ref))
                finally:
                    os.close(old)
            finally:
                os.close(namespace)
        except OSError as error:
            raise unavailable(error, self._path(ref)) from error

    def exists(self, ref: ObjectRef) -> bool:
        """Whether there is a folder of ours under that name."""
        return self._tree.holds(folder_of(ref), secret_name(ref), stat.S_ISDIR)

    def load(self, ref: ObjectRef) -> dict[str, bytes] | None:
        """What the folder holds now, or None where there is none. What cannot be a key is passed over."""
        name = secret_name(ref)
        try:
            namespace = self._tree.open_namespace(folder_of(ref), create=False)
            try:
                for _ in range(_TRIES):
                    data, whole = self._load(namespace, name, self._path(ref))
                    if whole:
                        return data
            finally:
                os.close(namespace)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unavailable(error, self._path(ref)) from error
        raise TargetUnavailable(
            f"{self._path(ref)}: the folder is swapped all the time", hint="find out who does"
        )

    def remove(self, ref: ObjectRef) -> bool:
        """Take the whole set away at once; False where there is none."""
        name = secret_name(ref)
        try:
            namespace = self._tree.open_namespace(folder_of(ref), create=False)
            try:
                folder = os.open(name, OPEN_FOLDER, dir_fd=namespace)
                try:
                    self._check_ours(folder, self._path(ref))
                    _names(folder, self._path(ref))
                finally:
                    os.close(folder)
                hidden = self._tree.temporary()
                os.rename(name, hidden, src_dir_fd=namespace, dst_dir_fd=namespace)
                self._tree.discard(namespace, hidden)
                if self._settings.fsync:
                    os.fsync(namespace)
            finally:
                os.close(namespace)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise unavailable(error, self._path(ref)) from error
        return True

    def _path(self, ref: ObjectRef) -> str:
        return f"{self._tree.path}/{ref.namespace}/{ref.name}"

    def _load(self, namespace: int, name: str, path: str) -> tuple[dict[str, bytes], bool]:
        """The data, and whether the folder stood under its name all the while: a swap removes the old one."""
        folder = os.open(name, OPEN_FOLDER, dir_fd=namespace)
        try:
            opened = self._check_ours(folder, path)
            data = {key: content for key, (_, content) in _files(folder).items() if is_key(key)}
        finally:
            os.close(folder)
        found = os.stat(name, dir_fd=namespace, follow_symlinks=False)
        return data, (found.st_ino, found.st_dev) == (opened.st_ino, opened.st_dev)

    def _check_ours(self, folder: int, path: str) -> os.stat_result:
        status = os.fstat(folder)
        if status.st_uid not in self._tree.owners:
            raise foreign(path, status.st_uid)
        return status

    def _create(self, namespace: int, name: str, data: Mapping[str, bytes]) -> dict[str, Face]:
        hidden = self._tree.temporary()
        os.mkdir(hidden, 0o700, dir_fd=namespace)
        try:
            faces = self._fill(namespace, hidden, data, -1, {})
            os.rename(hidden, name, src_dir_fd=namespace, dst_dir_fd=namespace)
        except BaseException:  # tidied up after, and raised again
            self._tree.discard(namespace, hidden)
            raise
        if self._settings.fsync:
            os.fsync(namespace)
        return faces

    def _replace(self, namespace: int, name: str, old: int, data: Mapping[str, bytes], path: str) -> Written:
        status = self._check_ours(old, path)
        names = _names(old, path)
        files = _files(old)
        mode = self._settings.file_mode
        kept = {
            key: face(found)
            for key, (found, content) in files.items()
            if data.get(key) == content and self._tree.owned(found, mode)
        }
        if len(kept) == len(data) == len(names) and self._tree.owned(status, self._settings.folder_mode):
            return Written(changed=False, faces={"": face(status), **kept})
        faces = self._swap(namespace, name, old, data, kept) if self._swaps else None
        if faces is None:
            self._swaps = False
            faces = self._each(old, data, kept, names)
        return Written(changed=True, faces=faces)

    def _swap(
        self, namespace: int, name: str, old: int, data: Mapping[str, bytes], kept: Mapping[str, Face]
    ) -> dict[str, Face] | None:
        """Put a new folder in the place of the old one; None where this file system cannot."""
        hidden = self._tree.temporary()
        os.mkdir(hidden, 0o700, dir_fd=namespace)
        try:
            faces = self._fill(namespace, hidden, data, old, kept)
            swapped = exchange(namespace, hidden, name)
        except BaseException:  # tidied up after, and raised again
            self._tree.discard(namespace, hidden)
            raise
        if swapped and self._settings.fsync:
            os.fsync(namespace)
        self._tree.discard(namespace, hidden)  # now the old set, or the new one where no swap was possible
        return faces if swapped else None

    def _fill(
        self, namespace: int, hidden: str, data: Mapping[str, bytes], old: int, kept: Mapping[str, Face]
    ) -> dict[str, Face]:
        faces: dict[str, Face] = {}
        folder = os.open(hidden, OPEN_FOLDER, dir_fd=namespace)
        try:
            for key, content in data.items():
                if key in kept and _linked(old, folder, key):
                    faces[key] = kept[key]
                else:
                    faces[key] = self._write_file(folder, key, content)
            faces[""] = self._finished(folder)
        finally:
            os.close(folder)
        return faces

    def _finished(self, folder: int) -> Face:
        self._tree.own(folder, self._settings.folder_mode)
        if self._settings.fsync:
            os.fsync(folder)
        return face(os.fstat(folder))

    def _write_file(self, folder: int, name: str, content: bytes) -> Face:
        fd = os.open(name, CREATE_FILE, 0o600, dir_fd=folder)
        try:
            self._tree.own(fd, self._settings.file_mode)
            write_all(fd, content)
            if self._settings.fsync:
                os.fsync(fd)
            return face(os.fstat(fd))
        finally:
            os.close(fd)

    def _each(
        self, folder: int, data: Mapping[str, bytes], kept: Mapping[str, Face], names: set[str]
    ) -> dict[str, Face]:
        faces = dict(kept)
        for key in data.keys() - kept.keys():
            hidden = self._tree.temporary()
            try:
                faces[key] = self._write_file(folder, hidden, data[key])
                os.rename(hidden, key, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:  # tidied up after, and raised again
                if hidden in listed(folder):
                    os.unlink(hidden, dir_fd=folder)
                raise
        for name in names - data.keys():
            os.unlink(name, dir_fd=folder)
        faces[""] = self._finished(folder)
        return faces


def _opened(name: str, parent: int) -> int | None:
    try:
        return os.open(name, OPEN_FOLDER, dir_fd=parent)
    except FileNotFoundError:
        return None


def _names(folder: int, path: str) -> set[str]:
    """All names in a folder that may be replaced or removed: one that holds folders was not made by us."""
    with os.scandir(folder) as entries:
        names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    if any(names.values()):
        raise TargetUnavailable(
            f"{path}: the folder holds other folders, so syncret did not make it",
            hint="move it away, or choose another output folder",
        )
    return set(names)


def _files(folder: int) -> dict[str, tuple[os.stat_result, bytes]]:
    """The regular files of a folder; links, devices and pipes are passed over, never followed."""
    files: dict[str, tuple[os.stat_result, bytes]] = {}
    for name in listed(folder):
        if name.startswith(TEMPORARY):
            continue
        try:
            fd = os.open(name, _READ_FILE, dir_fd=folder)
        except OSError:  # a link, a socket, or gone since: as good as no file
            continue
        try:
            status = os.fstat(fd)
            if stat.S_ISREG(status.st_mode):
                files[name] = (status, _read(fd, status.st_size))
        finally:
            os.close(fd)
    return files


def _read(fd: int, size: int) -> bytes:
    content = os.read(fd, min(size, _MAX_BYTES) + 1)
    while (
        0 < len(content) < size
        and len(content) < _MAX_BYTES
        and (more := os.read(fd, size - len(content) + 1))
    ):
        content += more
    return content


def _linked(old: int, new: int, name: str) -> bool:
    try:
        os.link(name, name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
    except OSError:  # no links here, or too many: the content is written again
        return False
    return True
