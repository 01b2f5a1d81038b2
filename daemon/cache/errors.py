"""Errors of the cache and of single records."""


class CacheUnusable(Exception):
    """The cache cannot be used: its file is neither read nor written."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


class Rejected(Exception):
    """A record does not open: it was damaged, moved from another name, or sealed with another key."""
