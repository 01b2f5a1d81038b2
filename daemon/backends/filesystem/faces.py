"""What a file looks like from outside: the parts of its `stat` that change when somebody else touches it.

The time of the last status change is not part of it: hard links and swaps of folders, our own, change it.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

Face: TypeAlias = tuple[int, ...]


class Written(NamedTuple):
    """One write: whether it changed anything, and the faces of what it made, known before others saw them.

    The name of the written folder or file itself is "".
    """

    changed: bool
    faces: Mapping[str, Face]


def face(status: os.stat_result) -> Face:
    """What one file or folder looks like."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_uid,
        status.st_gid,
        status.st_size,
        status.st_mtime_ns,
    )
