"""The order in which Go prints and ranges over a map."""

from collections.abc import Mapping
from math import isnan

from syncret.daemon.core.templating.values import Value, bytes_of


def sorted_keys(items: Mapping[Value, Value]) -> list[Value]:
    """The keys of a map in Go's order: strings by their bytes, NaN before all numbers."""
    return sorted(items, key=_rank)


def _rank(key: Value) -> tuple[int, bytes | float | int]:
    if isinstance(key, str):
        return 1, bytes_of(key)
    if isinstance(key, float) and isnan(key):
        return -1, 0
    return 0, key if isinstance(key, int | float) else 0
