"""A folder whose files are links through `..data`, the layout of kubelet's volumes: for programs that watch.

`T/..g7/` holds set 7, `T/..data` is a link to `..g7`, and each name in T is a link to `..data/NAME`. A swap
renames a new link over `..data`: programs that watch T see it, and T itself stays, also where it is mounted.
"""

import os
import re
import stat
from collections.abc import Mapping
from typing import Final

from syncret.daemon.delivery.making import Permissions, make_files, read_file, remove_folder
from syncret.daemon.delivery.paths import Place, Refused
from syncret.daemon.delivery.targets import Identity
from syncret.daemon.files.syscalls import OPEN_FOLDER, identity_of, listed

DATA: Final = "..data"
STAGED: Final = "..syncret-next"
"""Where a set is staged: a check unit may bind it over `..data`."""

_NEW_DATA: Final = "..data_tmp"
_SET: Final = re.compile(r"\.\.g[0-9]+").fullmatch


class LinksTarget:
    """A folder of links. `folder` is the open folder T itself, so T may be a mount point."""

    def __init__(self, place: Place, folder: int, permissions: Permissions) -> None:
        self._place = place
        self._folder = folder
        self._permissions = permissions

    def live(self) -> dict[str, bytes] | None:
        """The files of the live set; None where there is none."""
        name = self._live_name()
        return None if name is None else self._files(name)

    def is_right(self, files: Mapping[str, bytes]) -> bool:
        """Whether this set is live, with its links and the owner and modes that are wanted."""
        name = self._live_name()
        if name is None or not self._is_made_as_wanted(name, files):
            return False
        return self._links() == {each: f"{DATA}/{each}" for each in files}

    def is_live(self, identity: Identity) -> bool:
        """Whether what was staged with this identity is live."""
        name = self._live_name()
        return name is not None and self._identity(name) == identity

    def stage(self, files: Mapping[str, bytes], *, ours: bool) -> Identity:
        """Build the set beside the live one. `ours`: other files in the folder may be replaced."""
        if not ours:
            self._check_empty()
        self.discard_staged()
        os.mkdir(STAGED, 0o700, dir_fd=self._folder)
        staged = os.open(STAGED, OPEN_FOLDER, dir_fd=self._folder)
        try:
            make_files(staged, files, self._permissions, fsync=self._place.fsync)
            self._permissions.apply(staged, self._permissions.folder_mode)
            if self._place.fsync:
                os.fsync(staged)
            return identity_of(os.fstat(staged))
        finally:
            os.close(staged)

    def swap(self, generation: int) -> None:
        """Make what is staged live as this generation. Called again after a crash, it continues."""
        name = f"..g{generation}"
        if self._identity(STAGED) is not None:
            if self._identity(name) is not None:  # of a generation that never went live
                remove_folder(self._folder, name)
            os.rename(STAGED, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._point_to(name)

    def lead_to(self, generation: int) -> None:
        """Make a generation live whose set is still there: an earlier one, or after a crash the same.

        Generation 0 is no set: the links are removed.
        """
        if generation:
            self._point_to(f"..g{generation}")
            return
        for name in (*self._links(), DATA):
            self._unlink(name)
        self._sync()

    def is_staged(self) -> bool:
        """Whether a set is staged, or was already renamed to its generation."""
        live = self._live_name()
        others = (name for name in listed(self._folder) if _SET(name) and name != live)
        return self._identity(STAGED) is not None or next(others, None) is not None

    def remove(self) -> None:
        """Remove the links and all sets; the folder itself stays."""
        self.lead_to(0)
        self.discard_staged()
        self.discard_previous()

    def discard_staged(self) -> None:
        """Remove what was staged and will not go live."""
        if self._identity(STAGED) is not None:
            remove_folder(self._folder, STAGED)
        self._unlink(_NEW_DATA)

    def discard_previous(self) -> None:
        """Remove all sets but the one that is live."""
        live = self._live_name()
        for name in listed(self._folder):
            if _SET(name) and name != live:
                remove_folder(self._folder, name)

    def _point_to(self, name: str) -> None:
        """Let all links lead to a set. Only a name that is new leads nowhere for a moment."""
        wanted = set(self._names_of(name))
        links = self._links()
        for each in sorted(wanted):
            if links.get(each) != f"{DATA}/{each}":
                self._link(f"{DATA}/{each}", each)
        self._link(name, DATA)
        for each in links.keys() - wanted:
            self._unlink(each)
        self._sync()

    def _link(self, target: str, name: str) -> None:
        """Create a link atomically; it replaces another link or a file."""
        self._unlink(_NEW_DATA)
        os.symlink(target, _NEW_DATA, dir_fd=self._folder)
        os.rename(_NEW_DATA, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def _live_name(self) -> str | None:
        """The name of the set that `..data` leads to, if it is one of ours."""
        try:
            name = os.readlink(DATA, dir_fd=self._folder)
        except OSError:  # there is none, or it is no link
            return None
        return name if _SET(name) and self._identity(name) is not None else None

    def _links(self) -> dict[str, str]:
        """The links in the folder that are for readers, and where they lead."""
        found: dict[str, str] = {}
        for name in listed(self._folder):
            if not name.startswith("..") and stat.S_ISLNK(self._status(name).st_mode):
                found[name] = os.readlink(name, dir_fd=self._folder)
        return found

    def _check_empty(self) -> None:
        known = {DATA, _NEW_DATA, STAGED}
        ours = {name for name, target in self._links().items() if target == f"{DATA}/{name}"}
        if any(name not in known | ours and not _SET(name) for name in listed(self._folder)):
            raise Refused(
                f"{self._place.path} holds what syncret did not write", "move it away, or set adopt: true"
            )

    def _names_of(self, name: str) -> list[str]:
        folder = os.open(name, OPEN_FOLDER, dir_fd=self._folder)
        try:
            return listed(folder)
        finally:
            os.close(folder)

    def _files(self, name: str) -> dict[str, bytes]:
        folder = os.open(name, OPEN_FOLDER, dir_fd=self._folder)
        try:
            found = {each: read_file(folder, each) for each in listed(folder)}
        finally:
            os.close(folder)
        return {each: file[1] for each, file in found.items() if file is not None}

    def _is_made_as_wanted(self, name: str, files: Mapping[str, bytes]) -> bool:
        folder = os.open(name, OPEN_FOLDER, dir_fd=self._folder)
        try:
            if not self._permissions.match(os.fstat(folder), self._permissions.folder_mode):
                return False
            found = {each: read_file(folder, each) for each in listed(folder)}
        finally:
            os.close(folder)
        return set(found) == set(files) and all(
            file is not None
            and file[1] == files[each]
            and self._permissions.match(file[0], self._permissions.mode)
            for each, file in found.items()
        )

    def _identity(self, name: str) -> Identity | None:
        try:
            status = self._status(name)
        except FileNotFoundError:
            return None
        return identity_of(status) if stat.S_ISDIR(status.st_mode) else None

    def _status(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._folder, follow_symlinks=False)

    def _unlink(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self._folder)
        except FileNotFoundError:
            return

    def _sync(self) -> None:
        if self._place.fsync:
            os.fsync(self._folder)
