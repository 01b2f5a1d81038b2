"""A cache of parsed or compiled values, bounded in bytes."""

from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class SizedCache(Generic[K, V]):
    """Values by key, for threads too. The oldest go first: a manifest can make up any number of new ones."""

    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._values: dict[K, tuple[V, int]] = {}
        self.size = 0
        """Bytes of all values, about."""

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """The value, if it is still there."""
        found = self._values.get(key)
        return None if found is None else found[0]

    def add(self, key: K, value: V, size: int) -> None:
        """Keep a value, or note that one has grown. One that is larger than all may be is not kept."""
        with self._lock:
            self._drop(key)
            if size > self._most_bytes:
                return
            self._values[key] = value, size
            self.size += size
            while len(self._values) > self._most or self.size > self._most_bytes:
                self._drop(next(iter(self._values)))

    def _drop(self, key: K) -> None:
        self.size -= self._values.pop(key, (None, 0))[1]

    def __repr__(self) -> str:
        return f"<SizedCache {len(self)} size={self.size}>"
