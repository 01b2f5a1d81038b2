"""The errors of a secret manager, as an operator needs them told apart.

    SyncError
    ├── Denied       the manager refused: waits for a change, or a slow retry
    ├── Malformed    the answer or the request makes no sense: likewise
    ├── Unavailable  no answer, or a broken one: retried
    └── Throttled    too many calls: retried, not before `retry_after`

Not found is data, not an error. A message never quotes a response body or a value.
"""


class SyncError(Exception):
    """A call to a secret manager did not give what was asked."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


class Denied(SyncError):
    """The manager refused these credentials this act."""


class Malformed(SyncError):
    """The request cannot be served, or its answer not read, however often it is repeated."""


class Unavailable(SyncError):
    """The manager could not be reached, or failed; another try may succeed."""


class Throttled(SyncError):
    """The manager asks for fewer calls; `retry_after` is its own word in seconds, where it gave one."""

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
