"""What is remembered of each object beyond its status: origins of keys, the failure, wishes of operators."""

from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from syncret.config.meta import ObjectRef


class Failure(NamedTuple):
    """The last thing that went wrong, and when. The text names keys and places, never values."""

    at: float
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class Facts:
    """Kept in memory alone: a restart loses it, the next refresh brings it back."""

    def __init__(self) -> None:
        self._origins: dict[ObjectRef, Mapping[str, str]] = {}
        self._failures: dict[ObjectRef, Failure] = {}
        self._wishes: dict[ObjectRef, int] = {}
        self._decided: set[ObjectRef] = set()

    def succeeded(self, ref: ObjectRef, origins: Mapping[str, str] | None = None) -> None:
        """Nothing is in the way of the object; `origins` says which entry of the spec gave each key."""
        self._failures.pop(ref, None)
        if origins:
            self._origins[ref] = _held(tuple(origins.items()))

    def failed(self, ref: ObjectRef, failure: Failure) -> None:
        """The object is not in order."""
        self._failures[ref] = failure

    def forget(self, ref: ObjectRef) -> None:
        """The object is gone."""
        self._origins.pop(ref, None)
        self._failures.pop(ref, None)
        self._wishes.pop(ref, None)
        self._decided.discard(ref)

    def origins(self, ref: ObjectRef) -> Mapping[str, str]:
        """Which entry of the spec gave each key, as far as it was seen by this process."""
        return self._origins.get(ref, {})

    def failure(self, ref: ObjectRef) -> Failure | None:
        """What stands in the way now, if anything."""
        return self._failures.get(ref)

    def decide(self, ref: ObjectRef) -> bool:
        """A run has come to an end with the object, whatever it was. Whether it is the first in this life."""
        first = ref not in self._decided
        self._decided.add(ref)
        return first

    def decided(self, ref: ObjectRef) -> bool:
        """Whether a run of this life has come to an end with the object."""
        return ref in self._decided

    def wish(self, ref: ObjectRef) -> None:
        """An operator wants the object to be done now, due or not."""
        self._wishes[ref] = self._wishes.get(ref, 0) + 1

    def wished(self, ref: ObjectRef) -> int:
        """The number of the newest wish that stands; 0: none."""
        return self._wishes.get(ref, 0)

    def granted(self, ref: ObjectRef, wish: int) -> None:
        """A run that began with this wish has ended well. A wish that came meanwhile still stands."""
        if self._wishes.get(ref) == wish:
            del self._wishes[ref]


@lru_cache(maxsize=1024)
def _held(origins: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """A table of origins; thousands of objects that look alike have one in common."""
    return {intern(key): intern(place) for key, place in origins}
