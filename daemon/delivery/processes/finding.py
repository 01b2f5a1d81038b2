"""Finds the process of a program or container on this host, or in a pod whose containers share processes.

PID 1, which is `pause` in such a pod, and the daemon itself are never found.
"""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

_INIT: Final = 1
_PROC: Final = Path("/proc")
_DELETED: Final = " (deleted)"
_CONTAINER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{11,127}").fullmatch
"""The ID of a container: long enough to be in no other name of a cgroup by chance."""


class NoSuchProcess(Exception):
    """The process does not run."""


class Ambiguous(Exception):
    """Several processes match, and none is the parent of the others."""


class Hidden(Exception):
    """The process may run, but those of other users cannot be seen, as in the shipped unit."""


def is_container(name: str) -> bool:
    """Whether it can be the ID of a container."""
    return _CONTAINER(name) is not None


def processes_of_program(program: str) -> list[int]:
    """All processes of a program."""
    return list(_found(lambda entry: _is_of(program, entry)))


def process_of_program(program: str) -> int:
    """The topmost process of a program: the parent of its other processes.

    Raises NoSuchProcess, Hidden and Ambiguous.
    """
    return _topmost(lambda entry: _is_of(program, entry), program)


def process_of_container(name: str) -> int:
    """The topmost process of a container, by its ID in the names of cgroups. Raises as above."""
    return _topmost(lambda entry: name in _cgroups_of(entry), f"container {name}")


def signal_process(find: Callable[[], int], number: signal.Signals) -> None:
    """Send a signal to the process that is found; never to another one that reused its PID.

    Raises what `find` raises, NoSuchProcess, and PermissionError where it is another user's.
    """
    pid = find()
    try:
        process = os.pidfd_open(pid)
        try:
            if find() != pid:
                raise ProcessLookupError
            signal.pidfd_send_signal(process, number)
        finally:
            os.close(process)
    except ProcessLookupError:
        raise NoSuchProcess(f"there is no process {pid}") from None


def _topmost(matches: Callable[[Path], bool], what: str) -> int:
    found = _found(matches)
    roots = [pid for pid, parent in found.items() if parent not in found]
    if not roots and not (_PROC / str(_INIT)).exists():  # root's, and always there
        raise Hidden(f"{what} is not among the processes that the daemon can see")
    if not roots:
        raise NoSuchProcess(f"{what} is not running")
    if len(roots) > 1:
        raise Ambiguous(f"{what} runs {len(roots)} times: use pidFile")
    return roots[0]


def _found(matches: Callable[[Path], bool]) -> dict[int, int]:
    """Each process that matches, with its parent."""
    found: dict[int, int] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) in (_INIT, os.getpid()):
            continue
        try:
            if matches(entry):
                found[int(entry.name)] = _parent_of(entry)
        except OSError:  # it has ended meanwhile, or is hidden
            continue
    return found


def _is_of(program: str, entry: Path) -> bool:
    """Whether a process runs the program. One of another user is recognized by its command line.

    That may be a title that it set: `nginx: master process /usr/sbin/nginx -g daemon on;`.
    """
    try:
        return str((entry / "exe").readlink()).removesuffix(_DELETED) == program
    except PermissionError:
        called = os.fsdecode((entry / "cmdline").read_bytes().split(b"\0")[0])
        return called == program or program in called.split()


def _cgroups_of(entry: Path) -> str:
    return (entry / "cgroup").read_text(errors="replace")


def _parent_of(entry: Path) -> int:
    return int((entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
