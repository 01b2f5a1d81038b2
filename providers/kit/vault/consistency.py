"""Read-your-writes on a cluster whose standbys lag behind: the states that Vault reports are sent back to it.

A write is answered with `X-Vault-Index`, an opaque state. A node that is asked with it and has not got that
far answers 412, or hands the request to the active node where `X-Vault-Inconsistent` asks for that.
"""

from base64 import b64decode
from typing import Final, NamedTuple

HEADER: Final = "x-vault-index"
_FORM: Final = "v1"
_PARTS: Final = 5


class _State(NamedTuple):
    cluster: str
    local: int
    replicated: int

    def reaches(self, other: "_State") -> bool:
        """Whether whoever has seen this one has seen the other too."""
        return (
            self.cluster == other.cluster
            and self.local >= other.local
            and self.replicated >= other.replicated
        )


class Index:
    """The newest state that was seen."""

    __slots__ = ("_state", "_text")

    def __init__(self) -> None:
        self._text = ""
        self._state: _State | None = None

    def headers(self) -> dict[str, str]:
        """What a request carries."""
        return {"X-Vault-Index": self._text} if self._text else {}

    def note(self, text: str | None) -> None:
        """Take in the state of an answer, unless a node gave it that lags; what is no state is left out."""
        new = _parsed(text) if text else None
        if text and new is not None and not (self._state is not None and self._state.reaches(new)):
            self._text, self._state = text, new


def _parsed(text: str) -> _State | None:
    """`v1:cluster:local index:replicated index:signature`, in base64."""
    try:
        parts = b64decode(text, validate=True).decode("ascii").split(":")
        if len(parts) != _PARTS or parts[0] != _FORM:
            return None
        return _State(parts[1], int(parts[2]), int(parts[3]))
    except ValueError:
        return None
