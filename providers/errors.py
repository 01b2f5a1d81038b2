"""What a call to a secret manager can fail with, divided by what has to happen next.

    SyncError
    ├── Denied       the manager refused: tried again slowly, or when something changes
    ├── Malformed    the answer or the request makes no sense: likewise
    ├── Unavailable  no answer, or a broken one: retried
    └── Throttled    too many calls: retried, not before `retry_after`

Not found is data, not an error. A message never quotes a response body or a value.
"""

from copy import copy
from typing import Self


class SyncError(Exception):
    """A call to a secret manager failed.

    `place` is the field path of the entry that asked, once somebody knows it.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        self.place = ""
        super().__init__(message)

    def at(self, place: str) -> Self:
        """The same error, told of one place. A copy: one failed call may answer many."""
        told = copy(self)
        told.place = place
        return told

    def within(self, what: str) -> Self:
        """The same error, told as the reason why `what` failed."""
        told = copy(self)
        told.message = f"{what}: {self.message}"
        told.args = (told.message,)
        return told

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class Denied(SyncError):
    """These credentials are not accepted, or do not allow this."""


class Malformed(SyncError):
    """Repeating will not help: the request cannot be served, or its answer cannot be read."""


class Unavailable(SyncError):
    """The manager could not be reached, or failed; another try may succeed."""


class Throttled(SyncError):
    """The manager asks for fewer calls. `retry_after` is in seconds; None where it did not say."""

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
