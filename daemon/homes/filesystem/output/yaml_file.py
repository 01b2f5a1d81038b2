"""Writes objects other than Secrets as files: each is one YAML file in the folder of its namespace.

Like a Secret's folder, a file is complete, and owned as it should be, before its name appears, and is not
touched when its content is the same, in whatever order.
"""

import os
import stat
from typing import Final, NamedTuple

import msgspec

from syncret.config.meta import Document, ObjectRef, is_object
from syncret.config.text.yaml import LIMITS, parse_text, to_yaml
from syncret.daemon.files.syscalls import CREATE_FILE, write_all
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.output.drift import StatFingerprint, Written, stat_fingerprint
from syncret.daemon.homes.filesystem.output.leftovers import discard
from syncret.daemon.homes.filesystem.output.names import manifest_name
from syncret.daemon.homes.filesystem.output.root import OutputRoot

_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_MAX_BYTES: Final = 8 << 20
_LIMITS: Final = LIMITS._replace(document=_MAX_BYTES)
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class ManifestTarget:
    """Writes, reads and removes manifests. One writer at a time for each object."""

    def __init__(self, tree: OutputRoot) -> None:
        self._tree = tree

    def write(self, ref: ObjectRef, document: Document) -> Written:
        """Make the file hold this and nothing else."""
        name = manifest_name(ref)
        content = to_yaml(document).encode()
        with self._tree.namespace(ref, create=True) as namespace:
            found = self._read(namespace, name)
            if found is not None and found.owned and _holds(found.content, content, document):
                return Written(changed=False, fingerprints={"": found.fingerprint})
            return Written(changed=True, fingerprints={"": self._replace(namespace, name, content)})

    def exists(self, ref: ObjectRef) -> bool:
        """Whether there is a file of ours under that name."""
        return self._tree.holds(ref, stat.S_ISREG)

    def load(self, ref: ObjectRef) -> Document | None:
        """The present content of the file; None if there is none, or it is no YAML mapping."""
        try:
            with self._tree.namespace(ref) as namespace:
                found = self._read(namespace, manifest_name(ref))
        except FileNotFoundError:
            return None
        return None if found is None else _document(found.content)

    def remove(self, ref: ObjectRef) -> bool:
        """Take the file away; False where there is none."""
        try:
            with self._tree.namespace(ref) as namespace:
                os.unlink(manifest_name(ref), dir_fd=namespace)
                if self._tree.settings.fsync:
                    os.fsync(namespace)
        except FileNotFoundError:
            return False
        return True

    def _read(self, namespace: int, name: str) -> "_Found | None":
        try:
            fd = os.open(name, _READ_FILE, dir_fd=namespace)
        except FileNotFoundError:
            return None
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_uid not in self._tree.owners:
                raise StorageUnavailable(
                    f"{self._tree.path}: {name} is not a regular file, or belongs to another user",
                    hint="move it away; syncret did not make it",
                )
            owned = self._tree.has_owner(status, self._tree.settings.file_mode)
            return _Found(stat_fingerprint(status), owned, _read_all(fd))
        finally:
            os.close(fd)

    def _replace(self, namespace: int, name: str, content: bytes) -> StatFingerprint:
        settings = self._tree.settings
        hidden = self._tree.temporary()
        fd = os.open(hidden, CREATE_FILE, 0o600, dir_fd=namespace)
        try:
            try:
                self._tree.set_owner(fd, settings.file_mode)
                write_all(fd, content)
                if settings.fsync:
                    os.fsync(fd)
                made = stat_fingerprint(os.fstat(fd))
            finally:
                os.close(fd)
            os.rename(hidden, name, src_dir_fd=namespace, dst_dir_fd=namespace)
        except BaseException:  # tidied up after, and raised again
            discard(namespace, hidden)
            raise
        if settings.fsync:
            os.fsync(namespace)
        return made


class _Found(NamedTuple):
    """The file that has the name now."""

    fingerprint: StatFingerprint
    owned: bool
    content: bytes


def _holds(found: bytes, content: bytes, document: Document) -> bool:
    """Whether the file found has the same members with the same values (1, 1.0 and true are three)."""
    if found == content:
        return True
    held = _document(found)
    return held is not None and _ENCODER.encode(held) == _ENCODER.encode(document)


def _document(content: bytes) -> Document | None:
    """The mapping that a file holds; None where it was edited into something else, which is drift."""
    documents = list(parse_text(content, limits=_LIMITS))
    if len(documents) != 1 or documents[0].problems or not is_object(documents[0].value):
        return None
    return documents[0].value


def _read_all(fd: int) -> bytes:
    content = b""
    while len(content) < _MAX_BYTES and (more := os.read(fd, 1 << 16)):
        content += more
    return content
