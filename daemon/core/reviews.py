"""Reviews of tokens: whether their owners may read the paths that the daemon serves."""

from enum import Enum, auto
from typing import Protocol

from syncret.providers.values import SecretBytes


class Verdict(Enum):
    """The result of a review."""

    ALLOWED = auto()
    DENIED = auto()
    UNKNOWN = auto()
    """The token has no owner, or has expired."""


class Reviews(Protocol):
    """Reviews tokens."""

    async def check(self, token: SecretBytes, path: str) -> Verdict:
        """Whether the owner of the token may get the path. Raises HomeError if the review fails."""
        ...
