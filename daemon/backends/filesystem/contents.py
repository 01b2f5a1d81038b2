"""What is in the folder of a Secret, whoever put it there."""

import os
import stat

from syncret.daemon.backends.contract import TargetUnavailable
from syncret.daemon.backends.filesystem.names import TEMPORARY
from syncret.daemon.backends.filesystem.refusals import is_passing
from syncret.daemon.backends.filesystem.tree import listed

_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO that somebody put there must not hang us
_MAX_BYTES = 4 << 20  # of one file: more than any Secret may hold, so a longer one is not ours anyway


def names_in(folder: int, path: str) -> set[str]:
    """All names in a folder that may be replaced or removed: one that holds folders was not made by us."""
    with os.scandir(folder) as entries:
        names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    if any(names.values()):
        raise TargetUnavailable(
            f"{path}: the folder holds other folders, so syncret did not make it",
            hint="move it away, or choose another output folder",
        )
    return set(names)


def files_in(folder: int) -> dict[str, tuple[os.stat_result, bytes]]:
    """The regular files of a folder; links, devices and pipes are passed over, never followed.

    Raises OSError where it cannot be told what is there.
    """
    files: dict[str, tuple[os.stat_result, bytes]] = {}
    for name in listed(folder):
        if name.startswith(TEMPORARY):
            continue
        try:
            fd = os.open(name, _READ_FILE, dir_fd=folder)
        except OSError as error:
            if is_passing(error):
                raise
            continue  # a link, a socket, or gone since: as good as no file
        try:
            status = os.fstat(fd)
            if stat.S_ISREG(status.st_mode):
                files[name] = (status, _read(fd, status.st_size))
        finally:
            os.close(fd)
    return files


def _read(fd: int, size: int) -> bytes:
    content = os.read(fd, min(size, _MAX_BYTES) + 1)
    while (
        0 < len(content) < size
        and len(content) < _MAX_BYTES
        and (more := os.read(fd, size - len(content) + 1))
    ):
        content += more
    return content
