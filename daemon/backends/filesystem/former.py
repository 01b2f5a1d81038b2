"""What a former life left in the state file: objects, and manifest files that need not be read again.

A file is taken at its word where it looks as it did (device, inode, size, times) and every object that it
gave is remembered as coming from it, with the very digest that it had: parsing ten thousand manifests is a
third of a restart, a `stat` of each file is nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import NamedTuple

import msgspec

from syncret.config.meta import ObjectRef
from syncret.daemon.backends.filesystem.manifests import Said
from syncret.daemon.backends.filesystem.reading import Manifest
from syncret.daemon.backends.filesystem.records import FileRecord, Record, is_file, unpack


class FormerLife(NamedTuple):
    """Objects to be put back (the list is emptied by whoever does), and what manifest files said."""

    objects: list[tuple[ObjectRef, Record]]
    files: Mapping[str, Said]


def former_life(rows: Iterable[tuple[ObjectRef, bytes]]) -> FormerLife:
    """Read the rows of a state file. Raises msgspec.DecodeError for one that none of us wrote."""
    objects: list[tuple[ObjectRef, Record]] = []
    files: dict[str, FileRecord] = {}
    for ref, row in rows:
        if is_file(ref):
            files[ref.name] = msgspec.json.decode(row, type=FileRecord)
        else:
            objects.append((ref, unpack(row)))
    known = {ref: (ref, record) for ref, record in objects} if files else {}
    trusted: dict[str, Said] = {}
    for file, said in files.items():
        trusted[file] = said.signature, _manifests(intern(file), said, known)
    return FormerLife(objects, trusted)


def _manifests(
    file: str, said: FileRecord, known: Mapping[ObjectRef, tuple[ObjectRef, Record]]
) -> Sequence[Manifest] | None:
    """What the file said; None where an object is not as the file gave it, or not remembered whole."""
    manifests: list[Manifest] = []
    for name, line, digest in said.objects:
        ref, record = known.get(name, (name, None))
        if record is None or record.hollow or record.output or record.applied is None:
            return None
        if (record.applied.file, record.applied.digest) != (file, digest):
            return None
        manifests.append(Manifest(ref, file, line, record.applied.digest))
    return manifests
