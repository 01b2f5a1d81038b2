"""Notices when a whole store stops answering, and lets one call at a time find out when it answers again.

Backoff of objects alone would have ten thousand of them try a dead server each on its own. One entry that
fails among others that succeed is no outage: a success in between starts the count anew.
"""

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from syncret.providers.errors import Unavailable
from syncret.providers.kit.retry import Doubling

THRESHOLD: Final = 5
"""Calls in a row without an answer that make an outage."""

DOUBT_AFTER: Final = 1.0
"""Seconds after the first call without an answer; a store that has not answered by then is probed."""

Answers: TypeAlias = Literal["yes", "no", "unknown"]


class Reachability(NamedTuple):
    """Whether a store answers, as its calls show; and the last error if the newest call had no answer."""

    answers: Answers
    error: Unavailable | None = None


def _ignore(pause: float) -> None:
    del pause


class CircuitBreaker:
    """The state of one store: how many calls in a row had no answer, and when the next may be tried.

    `on_change` is called when the store has to be requeued, with the seconds until then: the breaker opens or
    closes, or the first call has had no answer.
    """

    def __init__(self, pauses: Doubling, on_change: Callable[[float], None] = _ignore) -> None:
        self._pauses = pauses
        self._on_change = on_change
        self._error: Unavailable | None = None
        self._answered = False
        self._failures = 0
        self._outages = 0
        self._closed_at = 0.0
        self._until = 0.0

    @property
    def reachability(self) -> Reachability:
        """Whether what is called answers; unknown after a few calls without an answer, and before any."""
        if self._failures:
            return Reachability("no" if self._failures >= THRESHOLD else "unknown", self._error)
        return Reachability("yes" if self._answered else "unknown")

    def check(self, now: float) -> None:
        """Let a call pass: any while the store answers, one after each pause in an outage.

        Raises Unavailable with the text of the last error, so that all objects report the same.
        """
        if self._failures < THRESHOLD:
            return
        left = self._until - now
        if left > 0:
            error = self._error
            if error is not None and error.problem:
                raise Unavailable(error.problem, hint=error.hint, problem=error.problem)
            raise Unavailable(
                f"the secret manager has not answered {THRESHOLD} times in a row",
                hint=f"{self._failures} times by now; the next call is in {left:.0f} s",
            )
        self._until = now + self._pauses.pause(self._outages + 1)

    def failed(self, error: Unavailable, now: float, begin: float) -> None:
        """A call that began then had no answer."""
        self._failures += 1
        self._error = error
        if self._failures == 1:
            self._on_change(DOUBT_AFTER)
        if self._failures < THRESHOLD or begin < self._closed_at:
            return  # what was under way when the pause began says nothing new
        self._closed_at = now
        self._outages += 1
        self._until = now + self._pauses.pause(self._outages)
        self._on_change(0.0)

    def succeeded(self) -> None:
        """A call had an answer, whatever it was."""
        failures = self._failures
        self.forget()
        self._answered = True
        if failures:
            self._on_change(0.0)

    def forget(self) -> None:
        """Forget all calls so far: the server or the login has changed."""
        self._error = None
        self._answered = False
        self._failures = 0
        self._outages = 0
        self._closed_at = 0.0

    def __repr__(self) -> str:
        return f"<Outage failures={self._failures}>" if self._failures else "<Outage none>"
