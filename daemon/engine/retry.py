"""Decides from the class of an error whether a run or a login is repeated, when, and how urgently."""

import asyncio
from collections.abc import Awaitable, Callable
from copy import copy
from math import inf
from typing import Final, TypeVar

from msgspec import Struct

from syncret.config.settings import Settings
from syncret.daemon.engine.queue.waiting import current_run
from syncret.daemon.engine.reconciler import Failure
from syncret.daemon.engine.work import call_work
from syncret.daemon.homes.contract import Conflict, Invalid, WatchEvent
from syncret.providers.errors import Denied, Malformed, OverBudget, SyncError, Throttled, Unavailable
from syncret.providers.kit.retry import PAUSES, Doubling, RetryPolicy

T = TypeVar("T")

MAX_CONFLICT_RETRIES: Final = 5
"""Conflicts in a row that are run again at once; further ones wait like any failure."""

SLOW: Final = 5
"""Doublings that are skipped for errors that only a change repairs: a change starts a run anyway."""

JITTER: Final = 0.2
"""The share of a pause that is added at random, so that objects that failed together spread out."""


_INSTANT: Final = 1e-3
"""Seconds by which a timer of the wall clock may ring early."""


class RetryRules(Struct, frozen=True):
    """The rules for the runs of an engine. Time and chance (0 to 1) are arguments."""

    pauses: Doubling

    def is_immediate(self, failure: Failure, times: int) -> bool:
        """Whether a run that ended so, so many times in a row, is repeated at once, ahead of periodic ones.

        It has not failed: the object changed after the run had read it.
        """
        return isinstance(failure, Conflict) and times <= MAX_CONFLICT_RETRIES

    def next_due(
        self,
        planned: float | None,
        failure: Failure | None,
        failures: int,
        *,
        now: float,
        chance: float = 0.0,
    ) -> float | None:
        """When an object runs again; None if only a change starts a run.

        `planned` is the due time that the last run asked for. After a failure, the last of so many in a row,
        the retry comes earlier; after Throttled nothing does.
        """
        if planned is not None and planned <= now:
            planned = now + self.pauses.first  # it has just run: at once again would be forever
        if failure is None:
            return planned
        retry = now + self.pause(failure, failures, chance=chance)
        return retry if planned is None or isinstance(failure, Throttled) else min(planned, retry)

    def pause(self, failure: Failure, failures: int, *, chance: float = 0.0) -> float:
        """Seconds until the retry; never less than the server asked for."""
        skipped = SLOW if isinstance(failure, Denied | Malformed | OverBudget | Invalid) else 0
        pause = self.pauses.pause(failures + skipped, chance=chance)
        if isinstance(failure, Throttled) and failure.retry_after is not None:
            pause = max(pause, failure.retry_after * (1 + self.pauses.jitter * chance))
        return pause


def rules_of(settings: Settings) -> RetryRules:
    """The rules as the settings have them; without `spread` nothing is left to chance."""
    return RetryRules(Doubling(settings.retry_min, settings.retry_max, JITTER if settings.spread else 0.0))


def call_policy(settings: Settings) -> RetryPolicy:
    """How a provider call is retried if its store sets nothing."""
    return RetryPolicy(settings.call_attempts, PAUSES if settings.spread else PAUSES.without_jitter())


def _no_one(pause: float) -> None:
    del pause


class LoginBackoff:
    """Remembers the login of one store or generator that was refused: for a while none is sent.

    Managers count refused logins, and lock users out. The delay doubles with each refusal. It is over for a
    run that an operator, or a change of its object, asks for later than the first delay: many objects that
    are forced one after the other are one login.
    Implements `LogIn`.
    """

    def __init__(self, settings: Settings, on_refused: Callable[[float], None] = _no_one) -> None:
        """`on_refused` is called with the pause after each refusal."""
        self._pauses = Doubling(settings.retry_min, settings.retry_max)
        self._on_refused = on_refused
        self._error: SyncError | None = None
        self._failures = 0
        self._sent_at = -inf
        self._retry_at = -inf

    async def __call__(self, login: Callable[[], Awaitable[T]], /) -> T:
        """As `LogIn` says. Errors other than a refusal are left to the retry of calls and to the breaker.

        Its work has a budget of its own: all callers that wait for the login use it.
        """
        self.check()
        begin = asyncio.get_running_loop().time()
        paying = call_work.set(None)
        try:
            result = await login()
        except Denied as error:
            self.failed(error, sent_at=begin)
            raise
        finally:
            call_work.reset(paying)
        self.forget()
        return result

    @property
    def is_refused(self) -> bool:
        """Whether the last login was refused."""
        return isinstance(self._error, Denied)

    @property
    def failures(self) -> int:
        """How many in a row have failed."""
        return self._failures

    @property
    def unanswered(self) -> Unavailable | None:
        """The error of the last one, if the server did not answer."""
        error = self._error
        return error if isinstance(error, Unavailable) and error.problem else None

    def check(self) -> None:
        """Raise the error of the last login while it is too early for the next one."""
        error, run = self._error, current_run.get()
        if error is None:
            return
        if run is not None and run.asked_at >= self._sent_at + self._pauses.first:
            self._retry_at = -inf  # also for the tasks that serve this run
        left = self._retry_at - asyncio.get_running_loop().time()
        if left <= _INSTANT:
            return
        if isinstance(error, Throttled):
            raise Throttled(error.message, retry_after=left, hint=error.hint)
        raise copy(error)

    def failed(self, error: SyncError, *, sent_at: float, at_least: float = 0.0) -> None:
        """Remember an error: of a login, or of a client that could not be opened."""
        if isinstance(error, Malformed):
            return  # nothing was sent, and nothing is gained by waiting
        if sent_at <= self._sent_at:
            return  # a login that was sent since is remembered already: it was a part of this one
        self._error, self._sent_at = error, sent_at
        self._failures += 1
        pause = max(at_least, self._pauses.pause(self._failures))
        self._retry_at = asyncio.get_running_loop().time() + pause
        if self.is_refused:
            self._on_refused(pause)

    def on_credential_change(self, event: WatchEvent) -> None:
        """An object that the login was made of has changed."""
        del event
        self.forget()

    def forget(self) -> None:
        """Forget the refusals: the login was accepted, or its credentials have changed."""
        self._error, self._failures, self._sent_at = None, 0, -inf

    def __repr__(self) -> str:
        return f"<LoginBackoff failures={self._failures}>"
