"""Scans folders of manifests, and compares each file with what it defined before.

A file that cannot be read, or a document in it that is wrong, changes nothing: what that file defined last
stays in force until it can be read again, or until it no longer defines it. So does everything below a path
that has vanished: an unmounted disk or a checkout in progress must not look like a request to delete secrets.
"""

import os
import stat
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from syncret.config.errors import Problem
from syncret.config.manifests.loader import (
    NO_MANIFESTS,
    is_below,
    name_problem,
    read_bounded,
    shown_name,
    special_problem,
    unreadable,
)
from syncret.config.meta import ObjectRef
from syncret.config.settings import BoundFolder
from syncret.config.text.yaml import LIMITS
from syncret.daemon.files.syscalls import folder_identity, identity_of
from syncret.daemon.homes.contract import HomeProblem, RefusalReason
from syncret.daemon.homes.filesystem.manifests.bindings import Bindings, ForeignLink
from syncret.daemon.homes.filesystem.manifests.field_lines import line_of
from syncret.daemon.homes.filesystem.manifests.reader import (
    FileContent,
    Found,
    Manifest,
    ManifestReader,
    Remedies,
    duplicate_problem,
    followed,
    walk,
)
from syncret.daemon.homes.filesystem.manifests.remembered import RememberedFile, devices_below, roots
from syncret.daemon.homes.filesystem.manifests.snapshot import Signature, Snapshot

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.release.hosted import HostedRelease

_TIMES = 5
_RACY_NS = 2_000_000_000  # a file this young may change again with the same times


class _Known(Struct):
    signature: Signature
    content: FileContent
    last_good: dict[ObjectRef, Manifest]
    settled: bool
    """Whether the file is old enough that its next change will show in the signature."""
    remembered: bool = False
    digest: bytes = b""
    """The digest of its content; empty if it was not read, or is to be parsed again."""

    @property
    def says_nothing(self) -> bool:
        """Whether the file holds no document at all, not even a wrong one."""
        content = self.content
        return not (self.last_good or content.problems or content.refused or content.has_unnamed_documents)

    @property
    def has_manifests(self) -> bool:
        """Whether a document is one of ours, be it a wrong one; what cannot be read may be one."""
        content = self.content
        return bool(
            self.last_good
            or content.refused
            or content.has_unnamed_documents
            or any(each.problem.fatal for each in content.problems)
        )


class ManifestFolders:
    """Reads manifests, and only those again that changed. Blocking: call it in a thread."""

    def __init__(
        self,
        paths: Sequence[str],
        reader: ManifestReader,
        *,
        bindings: Bindings | None = None,
        skip: str | None = None,
        remembered: Mapping[str, RememberedFile] | None = None,
        once: bool = False,
        former: bool = False,
    ) -> None:
        """`bindings` decide which of the paths may define which objects.

        `skip` is a folder that is never scanned: written files may look like manifests.

        `remembered` is from the state file: a file that has the same signature is not read again.
        `former`: there is a state file with objects, which are in force.
        `once`: for a single scan, so that a path may be a pipe, which a later scan would wait for.
        """
        self._paths = paths
        self._bindings = bindings
        self._misnamed = [] if bindings is None else list(bindings.problems(reader.kinds))
        self._skip = skip
        self._reader = reader
        self._trusted = dict(remembered or {})
        self._roots = roots(paths, self._trusted)
        self._remembered_roots = dict(self._roots)
        self._remembered = self._trusted.keys() - self._roots.keys()
        self._remedies = Remedies(once=once, former=former)
        self._known: dict[str, _Known] = {}
        self._devices = {path: devices_below(path, self._trusted) for path in paths}
        self._incumbent: dict[ObjectRef, str] = {}
        self._changed = True
        self._emptied: set[str] = set()
        self._problems: list[HomeProblem] = []
        self.postponed: set[str] = set()
        """Files that the last `refresh` left for the next one."""

    def scan(self, touched: Collection[str] = ()) -> Snapshot:
        """Look at everything, and return the result."""
        self.refresh(touched)
        return self.snapshot()

    def refresh(self, touched: Collection[str] = (), *, largest: int = sys.maxsize) -> bool:
        """Look at everything; files in `touched` are read even if their times did not change.

        Files that changed and have more than `largest` bytes are left for the next call: until then, what
        they defined last stays in force. Returns whether anything differs from the last snapshot.
        """
        self.postponed = set()
        problems = list(self._misnamed)
        files: dict[str, os.stat_result] = {}
        sources: dict[str, str] = {}
        for path in self._paths:
            found = self._found(path)
            if isinstance(found, Problem):
                problems.append(_of_path(path, found))
                continue
            if not found and self._remedies.once:  # a daemon may wait for the first ones
                problems.append(_of_path(path, NO_MANIFESTS))
            for file, status in found.items():
                checked = self._checked(file, status, named=file == path)
                if isinstance(checked, Problem):
                    problems.append(_of_path(file, checked))
                else:
                    files[file] = checked
                    sources[file] = path
        vanished = [file for file in self._known if file not in files]
        for file in vanished:
            if not is_below(file, _troubled(problems)):
                del self._known[file]
                self._changed = True
        for file, status in files.items():
            self._refresh(file, status, sources[file], forced=file in touched, largest=largest)
        self._trusted.clear()
        self._changed = self._changed or problems != self._problems
        self._problems = problems
        return self._changed

    def snapshot(self) -> Snapshot:
        """The content of all files as of the last `refresh`."""
        self._changed = False
        problems = list(self._problems)
        troubled = [*_troubled(problems), *self.postponed]
        claims: dict[ObjectRef, list[Manifest]] = {}
        refused: set[ObjectRef] = set()
        outside: set[ObjectRef] = set()
        releases: list[HostedRelease] = []
        for file in sorted(self._known):
            known = self._known[file]
            releases += known.content.releases
            problems += known.content.problems
            refused.update(known.content.refused)
            outside.update(known.content.outside)
            if known.content.has_unnamed_documents:
                troubled.append(file)
            for ref, manifest in known.last_good.items():
                claims.setdefault(ref, []).append(manifest)
        manifests: dict[ObjectRef, Manifest] = {}
        for ref, claimants in claims.items():
            if len(claimants) == 1:
                manifests[ref] = claimants[0]
                continue
            owners = [one for one in claimants if self._bounds_of(one.file) is not None]
            first = owners or claimants
            winner = next((one for one in first if one.file == self._incumbent.get(ref)), first[0])
            manifests[ref] = winner
            for one in claimants:
                if one is not winner:
                    owned = winner in owners and one not in owners
                    duplicate = duplicate_problem(ref, one.line, winner, owned=owned)
                    problems.append(HomeProblem(one.file, duplicate, ref, RefusalReason.DUPLICATE, one.line))
        self._incumbent = {ref: manifest.file for ref, manifest in manifests.items()}
        files = {file: known.signature for file, known in self._known.items()}
        empty = (file for file, known in self._known.items() if known.says_nothing)
        return Snapshot(
            manifests,
            problems,
            troubled,
            refused,
            files=files,
            emptied=[*self._emptied, *empty],
            releases=releases,
            paths_without_manifests=self._without_manifests() if self._remedies.once else (),
            is_outside=partial(self._is_outside, outside),
        )

    def _without_manifests(self) -> Collection[str]:
        """The paths of the settings below which no file holds one."""
        files = [file for file, known in self._known.items() if known.has_manifests]
        return [path for path in self._paths if not any(is_below(file, [path]) for file in files)]

    def release(self, applied: Collection[Manifest]) -> Mapping[ObjectRef, Manifest]:
        """Drop documents that were applied: names and digests are enough to see changes.

        Returns the manifests without their documents.
        """
        released = {manifest.ref: structs.replace(manifest, content=None) for manifest in applied}
        for manifest in applied:
            known = self._known.get(manifest.file)
            if known is not None and known.last_good.get(manifest.ref) is manifest:
                known.last_good[manifest.ref] = released[manifest.ref]
                if known.content.manifests:
                    known.content = structs.replace(known.content, manifests=())
        return released

    def to_remember(self) -> Iterator[tuple[str, Signature | None, Collection[Manifest]]]:
        """Files that were read since the last call, whole and without a problem, and their manifests.

        Files that are remembered and gone come without a signature. A folder of the settings comes with its
        identity, so that the next run knows whether it is the same one, on the same file system.
        """
        for path, identity in self._roots.items():
            if self._remembered_roots.get(path) != identity:
                self._remembered_roots[path] = identity
                yield path, identity, ()
        troubled = _troubled(self._problems)
        for file in self._remembered - self._known.keys():
            if not is_below(file, troubled):
                self._remembered.discard(file)
                yield file, None, ()
        for file, known in self._known.items():
            if known.remembered or not known.settled:
                continue
            known.remembered = True
            content = known.content
            is_whole = not (content.problems or content.refused or content.has_unnamed_documents)
            if is_whole and not content.releases:  # their fields are known only once they were rendered
                self._remembered.add(file)
                yield file, known.signature, known.last_good.values()

    def distrust(self, files: Collection[str]) -> None:
        """Parse these files again when they are read next, even if they are unchanged."""
        for file in files & self._known.keys():
            self._known[file].digest = b""

    def line_of(self, manifest: Manifest, field: str, text_line: int) -> int:
        """The line of a field in the file of an object; that of the object if it is not found."""
        return line_of(self._reader, manifest, field, text_line)

    def _found(self, path: str) -> dict[str, Found] | Problem:
        """The manifest files at a path of the settings, or why the result cannot be trusted."""
        refused = None if self._bindings is None else partial(self._bindings.foreign_link, path)
        link = None if refused is None else refused(path)
        if link is not None:
            return link
        try:
            root = Path(path).stat()
            if not stat.S_ISDIR(root.st_mode):
                return (
                    {path: root}
                    if self._remedies.once or stat.S_ISREG(root.st_mode)
                    else followed(root.st_mode)
                )
            identity = folder_identity(path, root)
            files = dict(walk(path, {identity_of(root)} | self._skipped(path), refused))
        except OSError as error:
            return self._remedies.of_path(unreadable(error))
        if not files and self._devices[path] and root.st_dev not in self._devices[path]:
            return Problem(
                path="",
                message="another, empty file system is mounted here now",
                hint="what it said last stays in force until it is back or this path is removed",
            )
        self._devices[path] = frozenset([root.st_dev])
        if files:
            self._roots[path] = identity
        if not files and self._roots.get(path, identity) != identity:
            self._emptied.add(path)
        else:
            self._emptied.discard(path)
        return files

    def _checked(self, file: str, status: Found, *, named: bool) -> os.stat_result | Problem:
        """The status of a file that may be read, or the problem."""
        if isinstance(status, Problem):
            return status
        if isinstance(status, OSError):
            return self._remedies.of_file(unreadable(status, named=False))
        if not (named or stat.S_ISREG(status.st_mode)):
            return self._remedies.of_file(special_problem(status.st_mode))
        return name_problem(file) or status

    def _skipped(self, path: str) -> set[tuple[int, int]]:
        """The output folder, and bound folders that are read by themselves."""
        others = () if self._bindings is None else self._bindings.others(path)
        skipped = others if self._skip is None else (self._skip, *others)
        found: set[tuple[int, int]] = set()
        for each in skipped:
            with suppress(OSError):
                found.add(identity_of(Path(each).stat()))
        return found

    def _refresh(self, file: str, status: os.stat_result, source: str, *, forced: bool, largest: int) -> None:
        known = self._known.get(file)
        signature: Signature = (
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            *(() if self._bindings is None else self._bindings.fingerprint(file)),
        )
        if known is not None and known.settled and known.signature == signature and not forced:
            return
        if status.st_size > largest:
            self.postponed.add(file)
            return
        former = self._trusted.get(file)
        if former is not None and former[0] == signature and former[1] is not None and not forced:
            manifests = {manifest.ref: manifest for manifest in former[1]}
            self._known[file] = _Known(signature, FileContent(), manifests, settled=True, remembered=True)
            self._changed = True
            return
        youngest = max(status.st_mtime_ns, status.st_ctime_ns)
        settled = stat.S_ISREG(status.st_mode) and abs(time.time_ns() - youngest) >= _RACY_NS
        data = self._data(file, source)
        digest = b"" if isinstance(data, HomeProblem) else blake2b(data, digest_size=16).digest()
        if (
            known is not None
            and digest
            and known.digest == digest
            and known.signature[_TIMES:] == signature[_TIMES:]
        ):
            is_new = settled or known.signature != signature  # and can be remembered so
            self._changed = self._changed or is_new
            self._known[file] = structs.replace(known, signature=signature, settled=settled, remembered=False)
            return
        self._changed = True
        last_good = known.last_good if known is not None else {}
        if isinstance(data, HomeProblem):
            content = FileContent(problems=[data], has_unnamed_documents=True)
        else:
            content = self._reader.read(file, data, self._bounds_of(file))
        releases = [structs.replace(each, written=status.st_mtime_ns / 1e9) for each in content.releases]
        if known is not None and content.has_unnamed_documents and not releases:
            releases = list(known.content.releases)
        content = structs.replace(content, releases=releases)
        good = {manifest.ref: manifest for manifest in content.manifests}
        for ref, manifest in last_good.items():
            if ref not in good and (content.has_unnamed_documents or ref in content.refused):
                good[ref] = manifest
        self._known[file] = _Known(signature, content, good, settled=settled, digest=digest)

    def _bounds_of(self, file: str) -> BoundFolder | None:
        return None if self._bindings is None else self._bindings.of(file)

    def _is_outside(self, outside: Collection[ObjectRef], ref: ObjectRef, file: str) -> bool:
        """Whether an object may not come from a file; `outside` are those that files define all the same."""
        return ref in outside or (self._bindings is not None and self._bindings.is_outside(ref, file))

    def _data(self, file: str, source: str) -> bytes | HomeProblem:
        """The content of a file, or why it cannot be read."""
        try:
            read = read_bounded if self._bindings is None else partial(self._bindings.read, source)
            return read(file, LIMITS.file + 1)
        except OSError as error:
            return _of_path(file, self._remedies.of_file(unreadable(error)))


def _of_path(path: str, problem: Problem) -> HomeProblem:
    """The problem of a whole file or folder."""
    reason = RefusalReason.UNREADABLE if problem.fatal else None
    return HomeProblem(shown_name(path), problem, reason=reason)


def _troubled(problems: Sequence[HomeProblem]) -> list[str]:
    """Files and folders that could not be read completely."""
    return [
        each.source for each in problems if each.problem.fatal and not isinstance(each.problem, ForeignLink)
    ]
