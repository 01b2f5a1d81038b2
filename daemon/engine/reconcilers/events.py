"""What is worth telling about an object as it happens."""

from typing import Protocol

from syncret.config.meta import ObjectRef


class Events(Protocol):
    """Hears events. Their messages carry names of keys and places, never values."""

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        """One thing that happened."""
        ...


class Unheard:
    """Nobody listens."""

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None: ...
