"""The program as a child process: sends it signals, stops it, and notices its end."""

import asyncio
import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from syncret.daemon.cli.program.inherited import Inherited
from syncret.daemon.cli.program.not_run import refused_by_kernel

_PR_SET_CHILD_SUBREAPER: Final = 36
_INIT: Final = 1


class Child:
    """A program that runs, alone or with a process group of its own. Made in the main thread.

    Raises NotRun if the kernel does not execute it.
    """

    def __init__(
        self,
        program: Sequence[str],
        environment: Mapping[bytes, bytes],
        inherited: Inherited,
        *,
        own_group: bool,
    ) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603  # the user's program
                [*program],
                env=environment,
                preexec_fn=inherited.restore,  # noqa: PLW1509  # nothing in it takes a lock
                process_group=0 if own_group else None,
            )
        except OSError as error:
            raise refused_by_kernel(error, program, environment) from None
        self._own_group = own_group
        self.pid = self._process.pid
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Its exit code; negative: the signal that it died of."""

    def send(self, number: int) -> None:
        """Send a signal to its group; without one of its own, to the program."""
        if self.ended.done():
            return
        if self._own_group:
            self._send_to_group(number)
        else:
            self.send_alone(number)

    def send_alone(self, number: int) -> None:
        """Send a signal to the program, and to no process that it started."""
        if not self.ended.done():  # not reaped yet: the number is still its own
            with suppress(PermissionError):  # it became another user
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it and its group."""
        self.send(signal.SIGKILL)

    def note_end(self, code: int) -> None:
        """Record that it has ended and was reaped."""
        self._process.returncode = code
        self.ended.set_result(code)

    async def stop(self, number: int, seconds: float) -> None:
        """Send it a signal, kill it after so many seconds, and then kill the rest of its group."""
        self.send(number)
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self.ended)
        except TimeoutError:
            self.kill()
            await asyncio.shield(self.ended)
        if self._own_group:
            self._send_to_group(signal.SIGKILL)

    def _send_to_group(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


class Ended(NamedTuple):
    """A child process that ended, or was stopped."""

    pid: int
    code: int
    is_stopped: bool


def adopt_orphans() -> None:
    """Have processes that lose their parent become children of this one, as those of a container do."""
    prctl: Any = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None and os.getpid() != _INIT:
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def next_ended() -> Ended | None:
    """Reap one child or adopted orphan; None if none has ended. Popen copes with a child that is gone."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WSTOPPED | os.WNOHANG)
    except ChildProcessError:
        return None
    if found is None:
        return None
    died = found.si_code in (os.CLD_KILLED, os.CLD_DUMPED)
    return Ended(
        pid=found.si_pid,
        code=-found.si_status if died else found.si_status,
        is_stopped=found.si_code in (os.CLD_STOPPED, os.CLD_TRAPPED),
    )
