"""All file targets of one Delivery on this host: stages, swaps, compares and removes them.

Blocking. Each call opens the folders again, because another folder may be at the path by now.
"""

import errno
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final, TypeAlias

from msgspec.structs import replace

from syncret.daemon.core.delivery.file_targets import ALONE, WantedTarget
from syncret.daemon.core.delivery.phases import Phase, Row
from syncret.daemon.delivery import links, paths
from syncret.daemon.delivery.credentials.sealing import sealed
from syncret.daemon.delivery.links import DATA, LinksTarget
from syncret.daemon.delivery.making import Permissions
from syncret.daemon.delivery.paths import Moved, Refused, Trust, opened
from syncret.daemon.delivery.rights.accounts import known_group, known_user
from syncret.daemon.delivery.targets import FileTarget, FolderTarget, Identity

_REMEDIES: Final = {
    errno.EROFS: "name its folder in ReadWritePaths=, in a drop-in of syncret.service",
    errno.EACCES: "let the user that syncret runs as write to its folder",
}
"""The hint for each error of writing to a folder."""

Opened: TypeAlias = FileTarget | FolderTarget | LinksTarget


class HostTargets:
    """The targets, in their order."""

    def __init__(
        self,
        wanted: Sequence[WantedTarget],
        *,
        fsync: bool = True,
        in_container: bool = False,
        known: Mapping[str, str] | None = None,
    ) -> None:
        """`known`: the fingerprints of sealed files that hold what is wanted, by their names."""
        self._wanted = wanted
        self._known = known or {}
        self._fsync = fsync
        self._in_container = in_container

    def are_right(self) -> bool:
        """Whether all targets hold what is wanted, with owners and modes. Raises Refused and OSError."""
        return all(self._is_right(each) for each in self._wanted)

    def live(self) -> dict[str, bytes]:
        """All files that are live, by the names of their targets. Raises Refused and OSError."""
        found: dict[str, bytes] = {}
        for each in self._wanted:
            try:
                with self._opened(each, make=False) as target:
                    live = target.live()
                    if self._is_known(each, target):
                        live = each.files[ALONE]
            except FileNotFoundError:
                continue
            if isinstance(live, bytes):
                found[each.name] = live
            elif live is not None:
                found |= {f"{each.name}/{name}": content for name, content in live.items()}
        return found

    def fingerprints(self) -> dict[str, str]:
        """The fingerprints of sealed files, by which later changes by other programs are noticed."""
        found: dict[str, str] = {}
        for each in self._wanted:
            if each.sealed_by:
                with suppress(OSError, Refused), self._opened(each, make=False) as target:
                    found[each.name] = _fingerprint(target)
        return found

    def stage(self, row: Row) -> tuple[Identity, ...]:
        """Write everything beside what is live. Raises Refused and OSError: then nothing stays staged."""
        try:
            return tuple([self._stage(each, ours=each.adopt or bool(row.live)) for each in self._wanted])
        except BaseException:  # cleaned up, and raised again
            self.discard_staged()
            raise

    def swap(self, row: Row) -> None:
        """Make the next target live: that of number `row.done`. Idempotent."""
        number = row.done
        with self._opened(self._wanted[number]) as target:
            if isinstance(target, LinksTarget):
                target.swap(row.generation + 1)
            elif target.is_live(row.staged[number]):
                target.finish(row.staged[number])
            else:
                target.swap()

    def swap_back(self, row: Row) -> None:
        """Swap the next target back, in reverse order: that of number `row.done - 1`."""
        with self._opened(self._wanted[row.done - 1]) as target:
            if isinstance(target, LinksTarget):
                target.lead_to(row.generation)
            elif target.is_live(row.staged[row.done - 1]):
                target.finish(row.staged[row.done - 1])
                target.swap_back()

    def swapped(self, row: Row) -> int:
        """How many targets hold what was staged, counted from the first."""
        for number, (each, identity) in enumerate(zip(self._wanted, row.staged, strict=False)):
            if not self._is_live(each, identity):
                return number
        return len(row.staged)

    def are_staged(self, first: int) -> bool:
        """Whether something is staged for each target from this number on."""
        try:
            for each in self._wanted[first:]:
                with self._opened(each, make=False) as target:
                    if not target.is_staged():
                        return False
        except FileNotFoundError:
            return False
        return True

    def views(self) -> list[tuple[str, str]]:
        """Two paths of each target: where its new set is staged, and where it goes live."""
        entries = [each.entry for each in self._wanted]
        first = {number: entries.index(entry) == number for number, entry in enumerate(entries)}
        order = sorted(first, key=lambda number: not first[number])  # the first of each entry, then the rest
        return [(_staged_path(self._wanted[number]), self._wanted[number].path) for number in order]

    def undo(self, row: Row) -> None:
        """After a swap that failed, swap back the targets that were done, and remove what is staged.

        Raises Refused, Moved and OSError if one cannot be swapped back.
        """
        for done in range(min(row.done + 1, len(row.staged)), 0, -1):
            self.swap_back(replace(row, done=done))
        self.discard_staged()

    def remove(self) -> None:
        """Remove what is live, and what is beside it."""
        self._each(lambda target: target.remove())

    def finish(self, row: Row) -> None:
        """After a crash, complete the swap or rollback of a target that had begun."""
        live = self.swapped(row)
        for number, identity in enumerate(row.staged):
            if number >= live and row.phase is not Phase.ROLLING_BACK:
                return
            with self._opened(self._wanted[number]) as target:
                if isinstance(target, LinksTarget):
                    target.lead_to(row.generation + (number < live))
                elif number < live:
                    target.finish(identity)
                else:
                    target.discard_previous()

    def discard_staged(self) -> None:
        """Remove what is staged. What cannot be removed now is removed before the next set is staged."""

        def discard(target: Opened) -> None:
            with suppress(OSError):
                target.discard_staged()

        self._each(discard)

    def discard_mount_points(self) -> None:
        """After a failed check of a first set, remove the mount points that were made for the check."""

        def discard(target: Opened) -> None:
            if not isinstance(target, LinksTarget):
                target.discard_mount_point()

        self._each(discard, [each for each in self._wanted if not each.adopt])

    def discard_previous(self) -> None:
        """Remove what was live before."""
        self._each(lambda target: target.discard_previous())

    def _each(self, work: Callable[[Opened], None], wanted: Sequence[WantedTarget] | None = None) -> None:
        for each in self._wanted if wanted is None else wanted:
            try:
                with self._opened(each, make=False) as target:
                    work(target)
            except (FileNotFoundError, Refused, Moved):
                continue

    def _stage(self, wanted: WantedTarget, *, ours: bool) -> Identity:
        try:
            with self._opened(wanted) as target:
                if isinstance(target, FileTarget):
                    content = wanted.files[ALONE]
                    if wanted.sealed_by:
                        content = sealed(content, name=wanted.path.rpartition("/")[2], key=wanted.sealed_by)
                    return target.stage(content, ours=ours)
                return target.stage(wanted.files, ours=ours)
        except OSError as error:
            if error.errno not in _REMEDIES:
                raise
            raise Refused(f"{wanted.path}: {error.strerror}", _REMEDIES[error.errno]) from None

    def _is_right(self, wanted: WantedTarget) -> bool:
        try:
            with self._opened(wanted, make=False) as target:
                if wanted.sealed_by:
                    return self._is_known(wanted, target)
                if isinstance(target, FileTarget):
                    return target.is_right(wanted.files[ALONE])
                return target.is_right(wanted.files)
        except FileNotFoundError:
            return False

    def _is_known(self, wanted: WantedTarget, target: Opened) -> bool:
        """Whether a sealed file holds what is wanted, by its fingerprint: it is not opened for that."""
        known = self._known.get(wanted.name) if wanted.sealed_by else None
        return bool(known) and _fingerprint(target) == known

    def _is_live(self, wanted: WantedTarget, identity: Identity) -> bool:
        try:
            with self._opened(wanted, make=False) as target:
                return target.is_live(identity)
        except FileNotFoundError:
            return False

    @contextmanager
    def _opened(self, wanted: WantedTarget, *, make: bool = True) -> Generator[Opened, None, None]:
        permissions = _permissions(wanted)
        trust = Trust.of_process(last=permissions.uid, in_container=self._in_container)
        path = f"{wanted.path}/{DATA}" if wanted.layout == "links" else wanted.path
        with opened(path, trust, make=make, fsync=self._fsync) as place:
            if wanted.layout == "links":
                yield LinksTarget(place, place.folder, permissions)
            elif wanted.layout == "swap":
                yield FolderTarget(place, permissions)
            else:
                yield FileTarget(place, permissions)


def _fingerprint(target: Opened) -> str:
    return target.fingerprint() if isinstance(target, FileTarget) else ""


def _staged_path(wanted: WantedTarget) -> str:
    if wanted.layout == "links":
        return f"{wanted.path}/{links.STAGED}"
    folder, _, name = wanted.path.rpartition("/")
    return f"{folder}/{paths.STAGED}{name}"


def _permissions(wanted: WantedTarget) -> Permissions:
    return Permissions(
        uid=known_user(wanted.owner),
        gid=known_group(wanted.group),
        mode=wanted.mode,
        folder_mode=wanted.folder_mode,
    )
