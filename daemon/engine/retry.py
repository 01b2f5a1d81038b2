"""How long a failed object waits before it is tried again."""

from typing import Final

from msgspec import Struct

from syncret.daemon.engine.reconciler import Failure
from syncret.providers.errors import Denied, Malformed, Throttled

SLOW: Final = 5
"""Doublings that Denied and Malformed skip: only a change helps them, and a change is noticed anyway."""

JITTER: Final = 0.2


class Backoff(Struct, frozen=True):
    """Pauses double from `first` up to `longest`; `chance` (0 to 1) makes one up to a fifth longer."""

    first: float
    longest: float

    def pause(self, failures: int, failure: Failure, *, chance: float = 0.0) -> float:
        """Seconds to wait after so many failures in a row; never less than the server asked for."""
        doublings = failures - 1 + (SLOW if isinstance(failure, Denied | Malformed) else 0)
        pause = min(self.longest, self.first * 2.0 ** min(doublings, 40))
        if isinstance(failure, Throttled) and failure.retry_after is not None:
            pause = max(pause, failure.retry_after)
        return pause * (1 + JITTER * chance)
