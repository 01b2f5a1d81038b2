"""Finds the process of a program or of a container on this host, or in the pod where processes are shared.

The first process, which is `pause` in such a pod, and our own are never found.
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
    """It does not run."""


class Ambiguous(Exception):
    """Several processes are meant, none of which comes from another."""


class Hidden(Exception):
    """It may run: the processes of other users cannot be seen here, as in the shipped unit."""


def is_container(name: str) -> bool:
    """Whether it can be the ID of a container."""
    return _CONTAINER(name) is not None


def processes_of_program(program: str) -> list[int]:
    """All processes of a program."""
    return list(_found(lambda entry: _is_of(program, entry)))


def process_of_program(program: str) -> int:
    """The topmost process of a program: the one that its other processes come from.

    Raises NoSuchProcess, Hidden and Ambiguous.
    """
    return _topmost(lambda entry: _is_of(program, entry), program)


def process_of_container(name: str) -> int:
    """The topmost process of a container, by its ID in the names of cgroups. Raises as above."""
    return _topmost(lambda entry: name in _cgroups_of(entry), f"container {name}")


def signal_process(find: Callable[[], int], number: signal.Signals) -> None:
    """Send a signal to the process that is found, and to no other that got its number meanwhile.

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


def _topmost(is_meant: Callable[[Path], bool], what: str) -> int:
    found = _found(is_meant)
    roots = [pid for pid, parent in found.items() if parent not in found]
    if not roots and not (_PROC / str(_INIT)).exists():  # root's, and always there
        raise Hidden(f"{what} is not among the processes that the daemon can see")
    if not roots:
        raise NoSuchProcess(f"{what} is not running")
    if len(roots) > 1:
        raise Ambiguous(f"{what} runs {len(roots)} times: use pidFile")
    return roots[0]


def _found(is_meant: Callable[[Path], bool]) -> dict[int, int]:
    """The parent of each process that is meant."""
    found: dict[int, int] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) in (_INIT, os.getpid()):
            continue
        try:
            if is_meant(entry):
                found[int(entry.name)] = _parent_of(entry)
        except OSError:  # it has ended meanwhile, or is hidden
            continue
    return found


def _is_of(program: str, entry: Path) -> bool:
    """Whether a process is of the program; one of another user by what it calls itself.

    That may be a sentence: `nginx: master process /usr/sbin/nginx -g daemon on;`.
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
