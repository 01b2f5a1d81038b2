"""The errors of a call to a secret manager, divided by what happens next.

    SyncError
    ├── Denied       the manager refused: tried again slowly, or when something changes
    ├── Malformed    the request cannot be served or the response not be read: likewise
    ├── OverBudget   the object asks for more work than one may (`work.py`): likewise
    ├── Unavailable  no response, or a broken one: retried
    └── Throttled    too many calls: retried, not before `retry_after`

Not found is data, not an error. A message never quotes a response body or a value.
"""

from copy import copy
from typing import Final, Self, TypeVar

from syncret.config.paths import join

_LONGEST: Final = 1000
_BEGIN: Final = 600
"""Characters of a message that is cut, up to the cut: what was done. What failed is at its end."""


def shortened(text: str) -> str:
    """The text, cut in the middle if a key or a path makes it longer than a condition should be."""
    if len(text) <= _LONGEST:
        return text
    left_out = len(text) - _LONGEST
    return f"{text[:_BEGIN]}... {left_out} characters ...{text[_BEGIN + left_out :]}"


class SyncError(Exception):
    """A call to a secret manager failed. The message may quote keys and paths; it is cut if it is too long.

    `place` is the field path of the entry that needs the value; empty until the reconciler fills it in.
    `field` is the path of the text that is wrong, such as a template, and `text_line` a line within it; it
    grows on the way up (`below`), and appears in no message.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = shortened(message)
        self.hint = shortened(hint)
        self.place = ""
        self.field = ""
        self.text_line = 0
        super().__init__(self.message)

    def at(self, place: str) -> Self:
        """A copy of the error with the field path of one entry: one failed call may serve many entries."""
        copied = copy(self)
        copied.place = place
        return copied

    def within(self, action: str) -> Self:
        """A copy of the error, as the reason why `action` failed."""
        copied = copy(self)
        copied.message = shortened(f"{action}: {self.message}")
        copied.args = (copied.message,)
        return copied

    def below(self, path: str) -> Self:
        """A copy of the error, the field of which is within the one at that path."""
        copied = copy(self)
        copied.field = join(path, self.field)
        return copied

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class Denied(SyncError):
    """These credentials are not accepted, or do not allow this."""


class Malformed(SyncError):
    """The request cannot be served, or its response cannot be read: a retry does not help."""


class OverBudget(SyncError):
    """The object asks for more work than it may. Not a Malformed: the values that were read are valid."""


class Unavailable(SyncError):
    """The manager could not be reached, or failed; another try may succeed.

    `problem` names the server and what is wrong with it, and nothing of the request: all users of the
    store may read it. Empty if the server is not at fault, or not known.
    """

    def __init__(self, message: str, *, hint: str = "", problem: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problem = problem

    def of_server(self) -> Self:
        """The error without its request, if no server answered: then it is equal for all requests."""
        if not self.problem or not self.message.endswith(self.problem):
            return self
        copied = copy(self)
        copied.message = self.problem
        copied.args = (self.problem,)
        return copied


class Throttled(SyncError):
    """The manager asks for fewer calls. `retry_after` is in seconds; None if it did not say."""

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


E = TypeVar("E", bound=BaseException)


def bare(error: E) -> E:
    """The error without its traceback, whose frames would keep answers in memory as long as the error."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error
