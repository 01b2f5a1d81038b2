"""Finds where a file or folder is mounted besides its own path, in this and in other visible processes."""

import re
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

_PROCESSES: Final = Path("/proc")
_MOST_PROCESSES: Final = 4096
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_DELETED: Final = "//deleted"
"""Suffix that the kernel adds to the root of a mount whose folder was removed."""
_FIELDS: Final = 5


class Mount(NamedTuple):
    """One line of `/proc/PID/mountinfo`."""

    device: str
    root: str
    """The path within its file system that is mounted."""
    point: str


class Elsewhere(NamedTuple):
    """Another mount point; `process` is the one that has it, empty if this process has it, too."""

    point: str
    process: str = ""


def mounted_elsewhere(path: str, *beside: str) -> list[Elsewhere]:
    """Where the path, or a path below it, is mounted. Blocking.

    A mount keeps its folder when that is renamed: `beside` are the names that a folder which was at the path
    may have now.
    """
    tables = _tables()
    own = parse(next(tables)[1])
    holder = _holding(path, own)
    if holder is None:
        return []
    folder, _, name = _within(path, holder).rpartition("/")
    roots = [f"{folder}/{each}" for each in (name, *beside)]
    found = dict.fromkeys(Elsewhere(each.point) for each in own if _shows(each, holder, roots))
    for process, text in tables:
        points = [each.point for each in parse(text) if _shows(each, holder, roots)]
        found |= dict.fromkeys(Elsewhere(each, process) for each in points if Elsewhere(each) not in found)
    return list(found)


def parse(table: str) -> list[Mount]:
    """The mounts of a process; a later one hides an earlier one at the same point."""
    lines = [line.split(" ", _FIELDS) for line in table.splitlines()]
    return [
        Mount(line[2], _plain(line[3]).removesuffix(_DELETED), _plain(line[4]))
        for line in lines
        if len(line) > _FIELDS
    ]


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)


def _tables() -> Iterator[tuple[str, str]]:
    """The mount tables of this process and of others, with the names of these; equal tables once."""
    own = (_PROCESSES / "self/mountinfo").read_text(errors="surrogateescape")
    seen = {hash(own)}
    yield "", own
    others = (each for each in _PROCESSES.iterdir() if each.name.isdecimal())
    for process in islice(others, _MOST_PROCESSES):
        try:
            table = (process / "mountinfo").read_text(errors="surrogateescape")
            called = (process / "comm").read_text(errors="replace").strip()
        except OSError:  # it has ended
            continue
        if hash(table) not in seen:
            seen.add(hash(table))
            yield f"{called}, process {process.name}", table


def _holding(path: str, mounts: Collection[Mount]) -> Mount | None:
    """The mount that holds the path, without what is mounted at the path itself."""
    over = [each for each in mounts if each.point == "/" or path.startswith(f"{each.point}/")]
    longest = max((len(each.point) for each in over), default=0)
    return next((each for each in reversed(over) if len(each.point) == longest), None)


def _within(path: str, mount: Mount) -> str:
    return f"{mount.root.rstrip('/')}{path.removeprefix(mount.point.rstrip('/'))}"


def _shows(mount: Mount, holder: Mount, roots: Collection[str]) -> bool:
    below = any(mount.root == root or mount.root.startswith(f"{root}/") for root in roots)
    return below and mount.device == holder.device
