"""Why the cache, or one record of it, cannot be used."""


class CacheUnusable(Exception):
    """There is no cache now: nothing is read from its file, and nothing written to it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


class Rejected(Exception):
    """A record does not open: it was damaged, moved from another name, or sealed with another key."""
