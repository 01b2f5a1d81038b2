"""The pauses between retries, and the retry of a call that had no answer (tenacity, wrapped once).

Only Unavailable is retried. Denied and Malformed would be refused again; Throttled asks for fewer calls, not
for more; a bug is a bug. SDKs have their own retries switched off, or the attempts would multiply.
"""

import random
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from syncret.config.durations import DurationError, parse_duration
from syncret.providers.errors import Malformed, Unavailable

T = TypeVar("T")

LONGEST_PAUSE: Final = 30.0
"""The longest pause that `retrySettings` can set: a call that waits keeps others from running."""

_MAX_DOUBLINGS: Final = 40


class Doubling(Struct, frozen=True):
    """Pauses in seconds that double from `first` up to `longest`.

    `jitter` spreads callers that failed together: chance makes a pause longer by up to that share, or shorter
    if it is negative.
    """

    first: float
    longest: float
    jitter: float = 0.0

    def pause(self, failures: int, *, chance: float = 0.0) -> float:
        """The pause after so many failures in a row; `chance` is between 0 and 1."""
        pause = min(self.longest, self.first * 2.0 ** min(max(failures, 1) - 1, _MAX_DOUBLINGS))
        return pause * (1 + self.jitter * chance)

    def without_jitter(self) -> "Doubling":
        """The same pauses, left to no chance."""
        return Doubling(self.first, self.longest)


PAUSES: Final = Doubling(0.2, 5.0, jitter=-1.0)
"""Between the attempts of a call: anything from zero to the full pause."""


class RetryPolicy(Struct, frozen=True):
    """How often a call is tried in all, and the pauses between."""

    attempts: int = 3
    pauses: Doubling = PAUSES


class RetrySettings(Protocol):
    """The `retrySettings` of a store or a generator."""

    @property
    def max_retries(self) -> int | None: ...
    @property
    def retry_interval(self) -> str | None: ...


def policy_of(settings: RetrySettings | None, default: RetryPolicy, *, path: str) -> RetryPolicy:
    """The policy that `retrySettings` ask for; `default` has what they leave out. Raises Malformed."""
    if settings is None:
        return default
    retries, interval = settings.max_retries, settings.retry_interval
    attempts = default.attempts if retries is None else 1 + max(0, retries)
    if interval is None:
        return RetryPolicy(attempts, default.pauses)
    try:
        pause = min(LONGEST_PAUSE, max(0.0, parse_duration(interval)))
    except DurationError as error:
        raise Malformed(f"{path}.retryInterval: {error}", hint="write 1m or 10s") from None
    return RetryPolicy(attempts, Doubling(pause, pause))


class Retry(NamedTuple):
    """One more try is about to be made: after which attempt, after what pause, and why."""

    attempt: int
    pause: float
    error: BaseException | None


RetryHook: TypeAlias = Callable[[Retry], None]

DEFAULT: Final = RetryPolicy()
ONCE: Final = RetryPolicy(attempts=1)


async def retried(
    call: Callable[[], Awaitable[T]], policy: RetryPolicy = DEFAULT, *, on_retry: RetryHook | None = None
) -> T:
    """The result of the call, tried as the policy says. Raises what the last attempt raised."""
    try:
        return await call()
    except Unavailable as error:
        if policy.attempts <= 1:
            raise
        first = [error]
    from tenacity import (  # slow to import, and most calls are answered
        AsyncRetrying,
        RetryCallState,
        retry_if_exception_type,
        stop_after_attempt,
    )

    async def attempt() -> T:
        if first:  # it was made above
            raise first.pop()
        return await call()

    def report(state: RetryCallState) -> None:
        if on_retry is not None:
            error = state.outcome.exception() if state.outcome is not None else None
            on_retry(Retry(state.attempt_number, state.upcoming_sleep, error))

    def pause(state: RetryCallState) -> float:
        return policy.pauses.pause(state.attempt_number, chance=random.random())  # noqa: S311  # no secret

    retrying = AsyncRetrying(
        retry=retry_if_exception_type(Unavailable),
        stop=stop_after_attempt(policy.attempts),
        wait=pause,
        before_sleep=report,
        reraise=True,
    )
    return await retrying(attempt)
