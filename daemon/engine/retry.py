"""Decides from the class of an error whether a run or a login is repeated, when, and how urgently."""

from typing import Final

from msgspec import Struct

from syncret.config.settings import Settings
from syncret.daemon.engine.reconciler import Failure
from syncret.daemon.homes.contract import Conflict
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.kit.retry import PAUSES, Doubling, RetryPolicy

MAX_CONFLICT_RETRIES: Final = 5
"""Conflicts in a row that are run again at once; further ones wait like any failure."""

SLOW: Final = 5
"""Doublings that Denied and Malformed skip: only a change helps them, and a change starts a run anyway."""

JITTER: Final = 0.2
"""The share of a pause that is added at random, so that objects that failed together spread out."""


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
        skipped = SLOW if isinstance(failure, Denied | Malformed) else 0
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


def login_pause(settings: Settings, error: SyncError, failures: int) -> float | None:
    """Seconds until a client that could not be opened is opened again; None if the next caller may try it."""
    if isinstance(error, Malformed):
        return None  # nothing was sent, and nothing is gained by waiting
    return Doubling(settings.retry_min, settings.retry_max).pause(failures)
