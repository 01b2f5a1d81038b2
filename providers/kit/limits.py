"""Limits the calls to one secret manager: a token bucket that adapts to throttling by the server.

A throttling server closes the bucket for as long as it asks (`Retry-After`) and halves the rate, which then
recovers slowly. Callers wait in order of arrival. While it is closed for longer than `max_wait`, calls
fail at once with the time of the next one, so that one store does not fill the daemon with waiting callers.
"""

import asyncio
import math
from typing import Final, NamedTuple

from syncret.providers.errors import Throttled
from syncret.providers.kit.retry import Doubling

RECOVERY: Final = 300.0
"""Seconds in which a rate recovers from zero to its full value."""

FLOOR: Final = 1 / 64
"""The smallest factor by which throttling reduces the rate."""

PAUSES: Final = Doubling(1.0, 60.0)
"""How long throttling without Retry-After closes the bucket."""

MIN_DELAY: Final = 1e-6
"""Seconds. A shorter delay counts as none: added to a large clock value, it might be lost to rounding."""


class Bucket:
    """A token bucket, without I/O: time is an argument."""

    __slots__ = ("_factor", "_last", "_streak", "_tokens", "burst", "closed_until", "rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate = rate
        self.burst = max(1.0, burst)
        self.closed_until = -math.inf
        self._tokens = self.burst
        self._last = now
        self._factor = 1.0
        self._streak = 0

    def configure(self, rate: float, burst: float, now: float) -> None:
        """Change rate and burst; the effects of throttling remain."""
        self._refill(now)
        self.rate = rate
        self.burst = max(1.0, burst)
        self._tokens = min(self._tokens, self.burst)

    def effective(self) -> float:
        """Calls per second that are allowed now."""
        return self.rate * self._factor

    def delay(self, now: float, ahead: int = 0) -> float:
        """Seconds until a call may start that waits behind `ahead` others."""
        self._refill(now)
        missing = ahead + 1 - self._tokens
        delay = max(0.0, self.closed_until - now) + max(0.0, missing) / self.effective()
        return delay if delay > MIN_DELAY else 0.0

    def spend(self) -> None:
        """Take a token for a call that starts."""
        self._tokens -= 1

    def refund(self) -> None:
        """Return the token of a call that did not start."""
        self._tokens = min(self.burst, self._tokens + 1)

    def throttled(self, now: float, retry_after: float | None) -> None:
        """The server throttled a call: close the bucket, halve the rate, and reopen with a single token.

        No call starts while the bucket is closed. Calls that are throttled meanwhile had started before: they
        only extend the time, if the server asks for more.
        """
        if now < self.closed_until:
            self._extend(now, retry_after or 0.0)
            return
        self._refill(now)
        self._streak += 1
        closed = PAUSES.pause(self._streak) if retry_after is None else max(0.0, retry_after)
        self._factor = max(FLOOR, self._factor / 2)
        self._tokens = 1.0
        self._extend(now, closed)

    def _extend(self, now: float, closed: float) -> None:
        self.closed_until = max(self.closed_until, now + closed)
        self._last = max(now, self.closed_until)

    def succeeded(self) -> None:
        """A call succeeded: the next pause without Retry-After is the shortest again."""
        self._streak = 0

    def _refill(self, now: float) -> None:
        passed = now - self._last
        if passed <= 0:
            return
        self._last = now
        self._tokens = self.burst if math.isinf(self.rate) else self._tokens + passed * self.effective()
        self._tokens = min(self.burst, self._tokens)
        self._factor = min(1.0, self._factor + passed / RECOVERY)


class LimiterStats(NamedTuple):
    """Totals (calls, seconds waited, throttled calls), and the current waiters, rate, and seconds closed."""

    calls: int
    waited: float
    throttled: int
    waiting: int
    rate: float
    closed: float


class Limiter:
    """A bucket with a queue. One for each store, since quotas belong to credentials."""

    def __init__(self, rate: float, burst: float, *, max_wait: float = 10.0) -> None:
        self._loop = asyncio.get_running_loop()
        self._bucket = Bucket(rate, burst, self._loop.time())
        self._max_wait = max_wait
        self._waiters: dict[asyncio.Future[None], None] = {}
        """In their order; an empty deque takes ten times the memory, and there are thousands of stores."""
        self._urgent: dict[asyncio.Future[None], None] = {}
        """Those that go first."""
        self._timer: asyncio.TimerHandle | None = None
        self._calls = 0
        self._waited = 0.0
        self._throttled = 0

    def configure(self, rate: float, burst: float) -> None:
        """Change rate and burst."""
        self._bucket.configure(rate, burst, self._loop.time())
        self._grant()

    async def take(self, *, urgent: bool = False) -> float:
        """Wait until one call may start; returns the seconds. Raises Throttled while closed for long."""
        begin = self._loop.time()
        line = self._urgent if urgent else self._waiters
        delay = self._bucket.delay(begin, ahead=len(line))
        if self._closed():
            raise self._throttled_error(delay)
        if delay or self._urgent or self._waiters:
            await self._wait(line)
        else:
            self._bucket.spend()
        waited = self._loop.time() - begin
        self._calls += 1
        self._waited += waited
        return waited

    def throttled(self, retry_after: float | None) -> float:
        """The server throttled a call. Returns the seconds until the next one may start."""
        now = self._loop.time()
        self._throttled += 1
        self._bucket.throttled(now, retry_after)
        delay = self._bucket.delay(now)
        if self._closed():
            for waiter in (*self._urgent, *self._waiters):
                if not waiter.done():
                    waiter.set_exception(self._throttled_error(delay))
            self._urgent.clear()
            self._waiters.clear()
        self._grant()
        return delay

    def succeeded(self) -> None:
        """A call succeeded."""
        self._bucket.succeeded()

    def stats(self) -> LimiterStats:
        now = self._loop.time()
        closed = max(0.0, self._bucket.closed_until - now)
        rate = self._bucket.effective()
        waiting = len(self._urgent) + len(self._waiters)
        return LimiterStats(self._calls, self._waited, self._throttled, waiting, rate, closed)

    def _closed(self) -> bool:
        return self._bucket.closed_until - self._loop.time() > self._max_wait

    def _throttled_error(self, delay: float) -> Throttled:
        message = f"the secret manager asked for fewer calls; the next one may start in {delay:.0f} s"
        return Throttled(message, retry_after=delay)

    async def _wait(self, line: dict[asyncio.Future[None], None]) -> None:
        waiter: asyncio.Future[None] = self._loop.create_future()
        line[waiter] = None
        self._grant()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._bucket.refund()
            else:
                line.pop(waiter, None)
            self._grant()
            raise

    def _grant(self) -> None:
        """Start the waiting calls that may start now, and set a timer for the next one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while line := self._urgent or self._waiters:
            delay = self._bucket.delay(self._loop.time())
            if delay:
                self._timer = self._loop.call_later(delay, self._grant)
                return
            waiter = next(iter(line))
            del line[waiter]
            if not waiter.done():
                self._bucket.spend()
                waiter.set_result(None)

    def __repr__(self) -> str:
        s = self.stats()
        closed = f" closed for {s.closed:.1f}s" if s.closed else ""
        return f"<Limiter {s.rate:.3g}/s waiting={s.waiting}{closed}>"
