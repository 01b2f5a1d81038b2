"""Restores the files of outputs that a reboot removed, from the offline cache, before drift is looked for."""

from base64 import b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.core.secret import is_intact
from syncret.daemon.homes.filesystem.output.content import OutputContent
from syncret.daemon.homes.filesystem.state.rows import Record

if TYPE_CHECKING:  # few hosts have one
    from syncret.daemon.cache.cache import OfflineCache

_AT_ONCE: Final = 256
"""Outputs that are written together: their content is in memory until then."""


def put_back(
    cache: "OfflineCache", outputs: OutputContent, objects: Sequence[tuple[ObjectRef, Record]]
) -> None:
    """Write the files of outputs in the state file that have none. Newer files are never touched.

    Data is used only if it matches the data-hash of a version in the state file: of the last one, or of the
    one before, whose replacement was under way.
    """
    missing = [
        (ref, record)
        for ref, record in objects
        if record.output and outputs.writes_files(ref.group_kind) and not outputs.exists(ref)
    ]
    for begin in range(0, len(missing), _AT_ONCE):
        found = [
            (ref, document)
            for ref, record in missing[begin : begin + _AT_ONCE]
            if (document := _document(cache, ref, record)) is not None
        ]
        results = outputs.work([outputs.writing(ref, document) for ref, document in found])
        for (ref, _), error in zip(found, results, strict=True):
            if error is None:
                cache.put_back(ref)


def _document(cache: "OfflineCache", ref: ObjectRef, record: Record) -> Document | None:
    """The output with its data from the cache; None if that does not match the state file."""
    kept = cache.output(ref)
    if kept is None:
        return None
    for version in (bytes(record.document), bytes(record.before)):
        head: Document = msgspec.json.decode(version) if version else {}
        if is_intact(head, kept.data):
            return {**head, "data": {key: b64encode(value).decode() for key, value in kept.data.items()}}
    return None
