"""Tries a call again when no answer came: the one place where retrying is decided (tenacity, wrapped once).

Only Unavailable is tried again. Denied and Malformed would be refused again; Throttled asks for fewer calls,
not for more; a bug is a bug. SDKs have their own retrying switched off, or the attempts would multiply.
"""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from syncret.providers.errors import Unavailable

T = TypeVar("T")


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """How often a call is tried in all, and how long the pauses are: doubling from `first` up to `longest`.

    With `jitter` a pause is drawn between nothing and that length, so that callers who failed together do not
    come back together.
    """

    attempts: int = 3
    first: float = 0.2
    longest: float = 5.0
    jitter: bool = True


class Retry(NamedTuple):
    """One more try is about to be made: after which attempt, after what pause, and why."""

    attempt: int
    pause: float
    error: BaseException | None


RetryHook: TypeAlias = Callable[[Retry], None]

DEFAULT: Final = RetryPolicy()


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
        wait_exponential,
        wait_random_exponential,
    )

    async def attempt() -> T:
        if first:  # it was made above
            raise first.pop()
        return await call()

    def tell(state: RetryCallState) -> None:
        if on_retry is not None:
            error = state.outcome.exception() if state.outcome is not None else None
            on_retry(Retry(state.attempt_number, state.upcoming_sleep, error))

    wait = wait_random_exponential if policy.jitter else wait_exponential
    retrying = AsyncRetrying(
        retry=retry_if_exception_type(Unavailable),
        stop=stop_after_attempt(policy.attempts),
        wait=wait(multiplier=policy.first, max=policy.longest),
        before_sleep=tell,
        reraise=True,
    )
    return await retrying(attempt)
