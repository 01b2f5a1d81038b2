"""Looks up the line of a field in its manifest, for the message of an object that fails because of it."""

import os
import stat
from typing import Final

from syncret.config.manifests.loader import load_bytes
from syncret.config.text.yaml import LIMITS
from syncret.daemon.homes.filesystem.manifests.reader import Manifest, ManifestReader

LARGEST: Final = 256 * 1024
"""Bytes of a file in which a line is looked up, which happens at each try of an object that fails."""

_LIMITS: Final = LIMITS._replace(document=32 * 1024, values=5_000, aliased=5_000)


def line_of(reader: ManifestReader, manifest: Manifest, field: str, text_line: int) -> int:
    """The line of a field, or of a line within its text. Blocking.

    That of the object itself if the file or the document is large, or does not say the same any more.
    """
    for loaded in load_bytes(manifest.file, _content(manifest.file), _LIMITS, at_line=manifest.line):
        if reader.says(loaded.document, manifest):
            return loaded.line_of(field, text_line)
    return manifest.line


def _content(file: str) -> bytes:
    """The content of a regular file; empty for one that is gone, large, or that might keep us waiting."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:  # noqa: PTH123  # so that nothing waits
            is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            data = stream.read(LARGEST + 1) if is_file else b""
    except (OSError, ValueError):
        return b""
    return data if len(data) <= LARGEST else b""
