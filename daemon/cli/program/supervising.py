"""Runs the program as a child, and starts it again, or signals it, when its values have changed."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Literal, Protocol, Self

from msgspec import Struct

from syncret.daemon.cli.program.child import Child, adopt_orphans, next_ended
from syncret.daemon.cli.program.inherited import Inherited
from syncret.daemon.cli.program.not_run import NotRun
from syncret.daemon.cli.program.signal_queue import Arrived, SignalQueue
from syncret.daemon.cli.terminal import print_error
from syncret.daemon.signals import SAME_REQUEST

BETWEEN_STARTS: Final = 10.0
"""The least seconds from one start to the next."""

_HARMLESS: Final = frozenset({signal.SIGCONT, signal.SIGWINCH, signal.SIGURG})
"""Signals whose default action does not end a process."""


class Reaction(Struct, frozen=True, kw_only=True):
    """What to do when values have changed, and how to stop the program."""

    how: Literal["restart", "signal"]
    number: int = 0
    """The signal to send, if `how` is `signal`."""
    stop_signal: int = signal.SIGTERM
    stop_timeout: float = 30.0
    splay: float = 0.0
    debounce: float = 2.0


class Changes(Protocol):
    """Notifies of changes of values."""

    async def changed(self, quiet: float) -> None:
        """Wait for a change, and then until nothing else has changed for so many seconds."""
        ...

    def log_failures(self) -> None:
        """From now on failures are logged."""
        ...


class Supervisor:
    """One program, from its first start to its end. Used as a context manager in a task of its own.

    Signals, which must be blocked, are taken while the block lasts: before the program runs, one that would
    end it cancels the task, and `ended_by` says which it was.
    """

    def __init__(self, program: Sequence[str], reaction: Reaction, inherited: Inherited) -> None:
        self._program = program
        self._reaction = reaction
        self._inherited = inherited
        self._own_group = not os.isatty(0)
        """With a terminal the program shares our process group: its own group would be in the background."""
        self._child: Child | None = None
        self._environment: Mapping[bytes, bytes] = {}
        self._started = 0.0
        self._is_replacing = False
        self._follows_stop = not self._own_group
        self._ending_since: float | None = None
        self.ended_by = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._over: asyncio.Future[int] = self._loop.create_future()
        self._queue = SignalQueue(self._on_signal)
        self._queue.__enter__()
        adopt_orphans()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.__exit__(None, None, None)

    async def run(
        self,
        environment: Mapping[bytes, bytes],
        changes: Changes,
        renew: Callable[[], Awaitable[Mapping[bytes, bytes]]],
    ) -> int:
        """Start the program; its exit code, negative for the signal that it died of. Raises NotRun."""
        self._start(environment)
        changes.log_failures()
        following = asyncio.create_task(self._follow(changes, renew), name="exec: follow the values")
        following.add_done_callback(self._on_following_done)
        try:
            return await self._over
        finally:
            following.cancel()
            if self._child is not None:
                await self._child.stop(self._reaction.stop_signal, self._reaction.stop_timeout)

    def _is_ending(self) -> bool:
        """Whether the program was asked to end."""
        return self._ending_since is not None

    def _start(self, environment: Mapping[bytes, bytes]) -> None:
        self._child = Child(self._program, environment, self._inherited, own_group=self._own_group)
        self._environment = environment
        self._started = self._loop.time()

    # ------------------------------------------------------------------------------------- when values change
    async def _follow(self, changes: Changes, renew: Callable[[], Awaitable[Mapping[bytes, bytes]]]) -> None:
        while True:
            await changes.changed(self._reaction.debounce)
            await asyncio.sleep(self._pause())
            try:
                environment = await renew()
            except NotRun as error:
                print_error(f"{self._program[0]} keeps its values: {error}", error.hint)
                continue
            if environment != self._environment:
                await self._react(environment)

    def _pause(self) -> float:
        """Seconds until the next start is due: not soon after the last, and not on all hosts at once."""
        if self._reaction.how == "signal":
            return 0.0
        earliest = self._started + BETWEEN_STARTS
        spread = random.uniform(0, self._reaction.splay)  # noqa: S311  # no secret hangs on it
        return max(0.0, earliest - self._loop.time()) + spread

    async def _react(self, environment: Mapping[bytes, bytes]) -> None:
        child = self._child
        if child is None or child.ended.done() or self._is_ending():
            return
        if self._reaction.how == "signal":
            self._environment = environment
            child.send_alone(self._reaction.number)
            return
        sys.stderr.write(f"syncret: {self._program[0]}: the values changed, it is started again\n")
        self._is_replacing = True
        await child.stop(self._reaction.stop_signal, self._reaction.stop_timeout)
        self._is_replacing = False
        if self._is_ending():
            self._over.set_result(child.ended.result())
        else:
            self._start(environment)

    def _on_following_done(self, following: asyncio.Task[None]) -> None:
        if not following.cancelled() and not self._over.done():
            error = following.exception()
            if error is not None:
                self._over.set_exception(error)

    # ------------------------------------------------------------------------------------------------ signals
    def _on_signal(self, arrived: Arrived) -> None:
        if arrived.number == signal.SIGCHLD:
            self._reap()
        elif self._child is None:
            self._end_before_start(arrived.number)
        elif arrived.is_from_terminal and not self._own_group:
            return  # the program was sent it, too
        else:
            self._follows_stop = self._follows_stop or arrived.number == signal.SIGTSTP
            self._child.send(arrived.number)
            if arrived.number == signal.SIGTERM:
                self._end(self._child)

    def _end_before_start(self, number: int) -> None:
        if number == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)
        elif number not in _HARMLESS and self._task is not None:
            self.ended_by = number
            self._task.cancel()

    def _end(self, child: Child) -> None:
        """Kill the program if it has not ended in time, or at a second request."""
        now = self._loop.time()
        if self._ending_since is None:
            self._ending_since = now
            self._loop.call_later(self._reaction.stop_timeout, child.kill)
        elif now - self._ending_since >= SAME_REQUEST:
            child.kill()

    def _reap(self) -> None:
        child = self._child
        while (ended := next_ended()) is not None:
            if child is None or ended.pid != child.pid:
                continue
            if not ended.is_stopped:
                child.note_end(ended.code)
                if not self._is_replacing and not self._over.done():
                    self._over.set_result(ended.code)
            elif self._follows_stop:
                self._follows_stop = not self._own_group
                os.kill(os.getpid(), signal.SIGSTOP)  # SIGCONT is sent on to it
