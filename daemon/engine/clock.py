"""Derives the wall-clock time from the event loop's, so that both move together, in a simulation too."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

TOLERANCE: Final = 2.0
"""A difference to the system's clock below this is drift; from here on it is a jump."""

CHECK_EVERY: Final = 5.0


class Clock:
    """Wall time in seconds since the epoch: an origin plus the loop's time.

    Timers are armed on the loop, whose time never jumps; due times are wall times, since they must survive a
    restart. When an operator (or the end of a suspend) moves the system's clock, `follow` re-anchors this one
    and calls the listeners, which arm their timers anew. Made inside a running loop.
    """

    def __init__(self, start: float | None = None, *, wall: Callable[[], float] = time.time) -> None:
        self._loop = asyncio.get_running_loop()
        self._wall = wall
        self._origin = (wall() if start is None else start) - self._loop.time()
        self._listeners: list[Callable[[float], None]] = []

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._origin + self._loop.time()

    def loop_time(self, moment: float) -> float:
        """The loop's time at a moment of the wall clock, as `call_at` takes it."""
        return moment - self._origin

    def on_jump(self, listener: Callable[[float], None]) -> None:
        """Call `listener(seconds)` after each jump; a positive number is a jump ahead."""
        self._listeners.append(listener)

    def anchor(self) -> float:
        """Set this clock by the system's if the two differ by a jump. Returns the jump, or 0."""
        jump = self._wall() - self.now()
        if abs(jump) < TOLERANCE:
            return 0.0
        self._origin += jump
        for listener in self._listeners:
            listener(jump)
        return jump

    async def follow(self) -> None:
        """Watch the system's clock until cancelled. Not for a simulation, whose clock is its own."""
        while True:
            await asyncio.sleep(CHECK_EVERY)
            self.anchor()

    def __repr__(self) -> str:
        return f"<Clock {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.now()))}>"
