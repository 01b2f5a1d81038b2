"""Signal handlers of the daemon: SIGTERM and SIGINT stop it (a second one at once), SIGHUP reloads it."""

import asyncio
import signal
from collections.abc import Callable
from enum import Enum
from typing import Final

import structlog

from syncret.daemon.fatal_signal import die_by

SAME_REQUEST: Final = 0.2
"""Seconds within which two signals are one request: `timeout`, for one, sends its signal twice."""

log = structlog.get_logger()


class Requested(Enum):
    """Why a run of the daemon ends."""

    STOP = "stop"
    RELOAD = "reload"


class Signals:
    """Handles signals from its creation, inside a running loop, until that loop is closed."""

    def __init__(self, on_stop: Callable[[], None]) -> None:
        """`on_stop` is called at the first signal to stop."""
        self._on_stop = on_stop
        self._came = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._stop_since: float | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._stop, number)
        self._loop.add_signal_handler(signal.SIGHUP, self._came.set)

    @property
    def stopping(self) -> bool:
        """Whether a signal to stop has come."""
        return self._stop_since is not None

    def stop(self) -> None:
        """Stop, as the first SIGTERM does."""
        if self._stop_since is None:
            self._stop_since = self._loop.time()
            self._on_stop()
            self._came.set()

    async def requested(self) -> Requested:
        """Wait for a signal. Any number of SIGHUPs before a reload begins are one request."""
        await self._came.wait()
        self._came.clear()
        return Requested.STOP if self.stopping else Requested.RELOAD

    def reload_begins(self) -> None:
        """Drop the requests for a reload that came before this one began: it serves them too."""
        if not self.stopping:
            self._came.clear()

    def _stop(self, number: signal.Signals) -> None:
        if self._stop_since is None:
            self.stop()
        elif self._loop.time() - self._stop_since >= SAME_REQUEST:
            log.warning(
                "stopped at once by a second signal; what was under way is cut short", signal=number.name
            )
            die_by(number)
