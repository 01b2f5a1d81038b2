"""Notices when a whole store stops answering, and lets one call at a time find out when it answers again.

Backoff of objects alone would have ten thousand of them try a dead server each on its own. One entry that
fails among others that succeed is no outage: a success in between starts the count anew.
"""

from typing import Final

from syncret.providers.errors import Unavailable

THRESHOLD: Final = 5
"""Calls in a row without an answer that make an outage."""


class Outage:
    """The state of one store: how many calls in a row had no answer, and when the next may be tried."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._failures = 0
        self._pause = first
        self._closed_at = 0.0
        self._until = 0.0

    def check(self, now: float) -> None:
        """Let a call pass: any while all is well, one after each pause in an outage. Raises Unavailable."""
        if self._failures < THRESHOLD:
            return
        left = self._until - now
        if left > 0:
            raise Unavailable(
                f"the secret manager has not answered {self._failures} times in a row; "
                f"the next call is in {left:.0f} s"
            )
        self._until = now + self._pause

    def failed(self, now: float, begin: float) -> None:
        """A call that began then had no answer."""
        self._failures += 1
        if self._failures < THRESHOLD or begin < self._closed_at:
            return  # what was under way when the pause began says nothing new
        self._closed_at = now
        self._until = now + self._pause
        self._pause = min(self._longest, self._pause * 2)

    def succeeded(self) -> None:
        """A call had an answer, whatever it was; or what is called is not the same any more."""
        self._failures = 0
        self._pause = self._first
        self._closed_at = 0.0

    def __repr__(self) -> str:
        return f"<Outage failures={self._failures}>" if self._failures else "<Outage none>"
