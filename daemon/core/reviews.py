"""Who may read what is served: the answers to a question that a cluster decides."""

from enum import Enum, auto
from typing import Protocol

from syncret.providers.values import SecretBytes


class Verdict(Enum):
    """What is known of the owner of a token."""

    ALLOWED = auto()
    DENIED = auto()
    UNKNOWN = auto()
    """It is nobody's token, or has expired."""


class Reviews(Protocol):
    """Reviews tokens."""

    async def check(self, token: SecretBytes, path: str) -> Verdict:
        """Whether the owner of the token may get the path. Raises HomeError where that cannot be told."""
        ...
