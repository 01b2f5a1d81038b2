"""Caches what was read, for as long as the spec allows."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from syncret.providers.errors import SyncError
from syncret.providers.values import RemoteKey


class Kept:
    """Payloads by key, each until it expires. The oldest ones go first."""

    def __init__(self, now: Callable[[], float], *, seconds: float = 0.0, most: int = 0) -> None:
        self._now = now
        self._seconds = seconds
        self._most: Final = most
        self._payloads: dict[RemoteKey, tuple[float, Any]] = {}

    def of(self, keys: Iterable[RemoteKey]) -> dict[RemoteKey, Any]:
        """The cached values of these keys."""
        now = self._now()
        held = {key: self._payloads[key] for key in keys if key in self._payloads}
        return {key: payload for key, (expires, payload) in held.items() if now < expires}

    def add(self, payloads: Mapping[RemoteKey, object]) -> None:
        """Keep what was read, but for errors."""
        if not self._most:
            return
        expires = self._now() + self._seconds
        for key, payload in payloads.items():
            if not isinstance(payload, SyncError):
                self._payloads.pop(key, None)
                self._payloads[key] = expires, payload
        for key in [*self._payloads][: max(len(self._payloads) - self._most, 0)]:
            del self._payloads[key]

    def clear(self) -> None:
        """Forget all: something was written."""
        self._payloads.clear()
