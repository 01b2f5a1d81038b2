"""Runs one command of a Delivery without a shell, in its own session and with a timeout.

Its process group is killed even after success: what it leaves running would hold files that are swapped.
"""

import asyncio
import ctypes
import os
import pwd
import resource
import signal
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Self

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.core.delivery.command_output import Redaction

GRACE: Final = 2.0
"""Seconds from SIGTERM to SIGKILL."""

_PR_SET_PDEATHSIG: Final = 1
_PIECE: Final = 1 << 16
_PIECES_IN_PIPE: Final = 16
ENVIRONMENT: Final[Mapping[str, str]] = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


class CommandResult(Struct, frozen=True, kw_only=True):
    """How a command ended."""

    code: int | None
    """Its exit code, negative for a signal; None if it took too long or could not be started."""
    output: str
    problem: str = ""
    """Why there is no code."""

    @property
    def succeeded(self) -> bool:
        return self.code == 0


def variables_of(delivery: ObjectRef, phase: str, number: int, staged: Iterable[str]) -> Mapping[str, str]:
    """What a command of the Delivery finds in its environment: the number of the set, and where it is."""
    return {
        "SYNCRET_DELIVERY": f"{delivery.namespace}/{delivery.name}",
        "SYNCRET_PHASE": phase,
        "SYNCRET_GENERATION": str(number),
        **{f"SYNCRET_STAGED_{place}": path for place, path in enumerate(staged, 1)},
    }


async def run_command(
    argv: Sequence[str],
    *,
    timeout: float,  # noqa: ASYNC109  # the command is stopped in steps, not cancelled
    variables: Mapping[str, str],
    values: Iterable[bytes],
) -> CommandResult:
    """Run the command to its end. `values` are redacted in the output. Call it from the main thread's loop.

    Cancelled, the command is killed.
    """
    redaction = Redaction(values)
    with _Tail(redaction.buffer_size) as output:
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output.writer,
                stderr=output.writer,
                cwd="/",
                env={**ENVIRONMENT, **home_of(), **variables},
                start_new_session=True,
                umask=0o077,
                preexec_fn=partial(_prepare, os.getpid()),
            )
        except OSError as error:
            return CommandResult(code=None, output="", problem=f"{argv[0]}: {error.strerror}")
        try:
            in_time = await _ended(process, timeout)
        finally:
            _kill(process.pid, signal.SIGKILL)
            await process.wait()  # also when this task is cancelled
        output.drain()
        return CommandResult(
            code=process.returncode if in_time else None,
            output=redaction.end_of(output.content, is_cut=output.is_cut),
            problem="" if in_time else f"took longer than {timeout:g}s",
        )


def home_of(uid: int | None = None) -> dict[str, str]:
    """The variables HOME and USER of a user, by default the daemon's."""
    try:
        entry = pwd.getpwuid(os.geteuid() if uid is None else uid)
    except KeyError:  # a number that no user has
        return {"HOME": "/"}
    return {"HOME": entry.pw_dir, "USER": entry.pw_name}


class _Tail:
    """The end of what a command prints, read from a pipe while it runs."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.content = b""
        self.is_cut = False

    def __enter__(self) -> Self:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)  # takes no keywords
        asyncio.get_running_loop().add_reader(self._reader, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._reader)
        os.close(self._reader)
        os.close(self.writer)

    def drain(self) -> None:
        """Read what is in the pipe now. What a process that left the group prints later is ignored."""
        for _ in range(_PIECES_IN_PIPE):
            if not self._read():
                return

    def _read(self) -> bool:
        try:
            piece = os.read(self._reader, _PIECE)
        except BlockingIOError:
            return False
        whole = self.content + piece
        self.is_cut = self.is_cut or len(whole) > self._size
        self.content = whole[-self._size :]
        return bool(piece)


async def _ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether it ended in time; if not, it gets SIGTERM, and SIGKILL after GRACE seconds."""
    for number, wait in ((signal.SIGTERM, seconds), (signal.SIGKILL, GRACE)):
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await process.wait()
            return number is signal.SIGTERM
        _kill(process.pid, number)
    return False


def _kill(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


_prctl: Any = getattr(ctypes.CDLL(None), "prctl", None)


def _prepare(parent: int) -> None:
    """In the new process: let it die with the daemon, and write no core file, which would contain values.

    It exits if the daemon was killed before PR_SET_PDEATHSIG was set: no one would wait for it.
    """
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
