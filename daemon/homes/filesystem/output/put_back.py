"""Puts the files of outputs back that a reboot took, from the offline cache, before anybody looks at them."""

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
"""Outputs that are written together: what they hold is in memory until they are."""


def put_back(
    cache: "OfflineCache", outputs: OutputContent, objects: Sequence[tuple[ObjectRef, Record]]
) -> None:
    """Write the files of what is remembered as an output and has none. Newer files are never touched.

    Only data that a remembered version names by its digest: what was delivered last, or what it replaced.
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
    """The output with the data that the cache has of it; None where that is not what is remembered."""
    kept = cache.output(ref)
    if kept is None:
        return None
    for version in (bytes(record.document), bytes(record.before)):
        face: Document = msgspec.json.decode(version) if version else {}
        if is_intact(face, kept.data):
            return {**face, "data": {key: b64encode(value).decode() for key, value in kept.data.items()}}
    return None
