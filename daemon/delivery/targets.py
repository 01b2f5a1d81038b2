"""One file, or a folder as a set: staged beside what is live, then exchanged with it in one system call.

Each has the same steps: `stage` writes beside it and returns the identity of what is to go live, `swap` makes
it live and keeps what was live before, `swap_back` undoes that, `discard_staged` and `discard_previous` clean
up. After a crash between two steps, `is_live` finds out by that identity whether the swap was made.
"""

import os
import stat
from collections.abc import Mapping
from typing import Final, TypeAlias

from syncret.daemon.delivery.making import Permissions, make_files, read_file, remove_ours
from syncret.daemon.delivery.paths import Place, Refused
from syncret.daemon.files.syscalls import OPEN_FOLDER, exchange, identity_of, linked, listed, rename_new

Identity: TypeAlias = tuple[int, int]
"""Device and inode of a staged file or folder: a swap keeps them."""

_NOT_OURS: Final = "move it away; adopt: true takes it over in a directory, a file or an envFile"


class Swapped:
    """Base of files and folders, which are swapped by exchanging two names."""

    def __init__(self, place: Place, permissions: Permissions) -> None:
        self._place = place
        self._permissions = permissions

    def is_live(self, identity: Identity) -> bool:
        """Whether what was staged with this identity is under the name of the target."""
        status = self._place.status()
        return status is not None and identity_of(status) == identity

    def fingerprint(self) -> str:
        """A text of inode, size, time and permissions, which changes with the file; empty without one."""
        status = self._place.status()
        if status is None:
            return ""
        permissions = f"{status.st_uid}:{status.st_gid}:{stat.S_IMODE(status.st_mode):o}"
        return f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{permissions}"

    def swap(self) -> None:
        """Make what is staged live; what was live is the previous one. Raises Moved, Refused and OSError."""
        place = self._place
        place.check_current()
        remove_ours(place, place.previous)
        if place.status() is None:
            if not rename_new(place.folder, place.staged, place.name):
                os.rename(place.staged, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        elif exchange(place.folder, place.staged, place.name):
            self._keep_previous()
        else:
            self._replace()
        place.sync()

    def finish(self, identity: Identity) -> None:
        """After a crash, rename what a swap replaced to the previous one, if only that was missing."""
        if self.is_live(identity) and self._place.status(self._place.staged) is not None:
            self._keep_previous()
            self._place.sync()

    def swap_back(self) -> None:
        """Make the previous one live again; where there was none, the target goes. As `swap` raises."""
        place = self._place
        place.check_current()
        if place.status(place.previous) is None:
            remove_ours(place, place.name)
        elif place.status() is None or not exchange(place.folder, place.previous, place.name):
            os.rename(place.previous, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        else:
            remove_ours(place, place.previous)
        place.sync()

    def is_staged(self) -> bool:
        """Whether something is staged."""
        return self._place.status(self._place.staged) is not None

    def discard_staged(self) -> None:
        """Remove what was staged and will not go live."""
        remove_ours(self._place, self._place.staged)

    def discard_previous(self) -> None:
        """Remove what was live before."""
        remove_ours(self._place, self._place.previous)

    def remove(self) -> None:
        """Remove what is live, and what is beside it."""
        for name in (self._place.name, self._place.staged, self._place.previous):
            remove_ours(self._place, name)
        self._place.sync()

    def _keep_previous(self) -> None:
        place = self._place
        os.rename(place.staged, place.previous, src_dir_fd=place.folder, dst_dir_fd=place.folder)

    def _replace(self) -> None:
        """Replace the target where the file system cannot exchange names, which a folder cannot."""
        raise Refused(
            f"{self._place.path}: this file system cannot exchange folders",
            "use layout: links, or another one",
        )

    def _is_sort(self, mode: int) -> bool:
        """Whether it has the file type of this target."""
        return stat.S_ISREG(mode)

    def _is_empty_folder(self) -> bool:
        """Whether an empty folder is there, and this target is a folder."""
        return False

    def _check_replaceable(self, *, adopt: bool) -> None:
        """Raise Refused for what the daemon did not write. A link is replaced, never followed."""
        status = self._place.status()
        if status is None or adopt or stat.S_ISLNK(status.st_mode) or self._is_empty_folder():
            return
        if not self._is_sort(status.st_mode):
            raise Refused(f"{self._place.path} has another file type than the target", _NOT_OURS)
        raise Refused(f"{self._place.path} holds what syncret did not write", _NOT_OURS)


class FileTarget(Swapped):
    """One file."""

    def live(self) -> bytes | None:
        """The content of the file; None where there is none."""
        found = read_file(self._place.folder, self._place.name)
        return None if found is None else found[1]

    def is_right(self, content: bytes) -> bool:
        """Whether the file has this content, and the owner and mode that are wanted."""
        found = read_file(self._place.folder, self._place.name)
        return (
            found is not None
            and found[1] == content
            and self._permissions.match(found[0], self._permissions.mode)
        )

    def discard_mount_point(self) -> None:
        """Remove the empty file that systemd makes for a check unit where nothing is live yet."""
        if self.live() == b"":
            remove_ours(self._place, self._place.name)

    def stage(self, content: bytes, *, ours: bool) -> Identity:
        """Write the file beside the live one. `ours`: what is there may be replaced."""
        place = self._place
        self._check_replaceable(adopt=ours)
        remove_ours(place, place.staged)
        make_files(place.folder, {place.staged: content}, self._permissions, fsync=place.fsync)
        return identity_of(os.stat(place.staged, dir_fd=place.folder, follow_symlinks=False))

    def _replace(self) -> None:
        """Link the live file as the previous one first: then one rename replaces it."""
        place = self._place
        os.link(
            place.name,
            place.previous,
            src_dir_fd=place.folder,
            dst_dir_fd=place.folder,
            follow_symlinks=False,
        )
        os.rename(place.staged, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)


class FolderTarget(Swapped):
    """A folder that holds a set of files and nothing else."""

    def live(self) -> dict[str, bytes] | None:
        """The files of the folder; None where there is none."""
        folder = self._opened(self._place.name)
        if folder is None:
            return None
        try:
            found = {name: read_file(folder, name) for name in listed(folder)}
        finally:
            os.close(folder)
        return {name: each[1] for name, each in found.items() if each is not None}

    def is_right(self, files: Mapping[str, bytes]) -> bool:
        """Whether the folder holds exactly these files, with the owner and modes that are wanted."""
        folder = self._opened(self._place.name)
        if folder is None:
            return False
        try:
            return (
                self._permissions.match(os.fstat(folder), self._permissions.folder_mode)
                and set(listed(folder)) == set(files)
                and all(self._same(folder, name, content) for name, content in files.items())
            )
        finally:
            os.close(folder)

    def stage(self, files: Mapping[str, bytes], *, ours: bool) -> Identity:
        """Build the set beside the live one. Files that do not change are hard links to the live ones."""
        place = self._place
        self._check_replaceable(adopt=ours)
        remove_ours(place, place.staged)
        os.mkdir(place.staged, 0o700, dir_fd=place.folder)
        new = os.open(place.staged, OPEN_FOLDER, dir_fd=place.folder)
        live = self._opened(place.name)
        try:
            fresh = {name: each for name, each in files.items() if not self._is_kept(live, new, name, each)}
            make_files(new, fresh, self._permissions, fsync=place.fsync)
            self._permissions.apply(new, self._permissions.folder_mode)
            if place.fsync:
                os.fsync(new)
            return identity_of(os.fstat(new))
        finally:
            os.close(new)
            if live is not None:
                os.close(live)

    def discard_mount_point(self) -> None:
        """Remove the empty folder that systemd makes for a check unit where nothing is live yet."""
        if self._is_empty_folder():
            remove_ours(self._place, self._place.name)

    def _is_sort(self, mode: int) -> bool:
        return stat.S_ISDIR(mode)

    def _is_empty_folder(self) -> bool:
        """Whether the folder is empty, as the one that systemd makes for a check unit that binds over it."""
        folder = self._opened(self._place.name)
        if folder is None:
            return False
        try:
            return not listed(folder)
        finally:
            os.close(folder)

    def _is_kept(self, live: int | None, new: int, name: str, content: bytes) -> bool:
        """Whether a file of the live set does not change, and was linked into the new set."""
        return live is not None and self._same(live, name, content) and linked(live, new, name)

    def _same(self, folder: int, name: str, content: bytes) -> bool:
        found = read_file(folder, name)
        return (
            found is not None
            and found[1] == content
            and self._permissions.match(found[0], self._permissions.mode)
        )

    def _opened(self, name: str) -> int | None:
        try:
            return os.open(name, OPEN_FOLDER, dir_fd=self._place.folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            status = self._place.status(name)
            if status is not None and stat.S_ISLNK(status.st_mode):
                return None
            raise
