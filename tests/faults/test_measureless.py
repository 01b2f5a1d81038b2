"""Secret managers that answer without measure: the daemon takes no more memory than it may."""

from pathlib import Path
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from tests.faults.measureless import LIMIT, MODES, SEARCHED, STORES, weighed

pytestmark = pytest.mark.slow

QUICK = ("large", "pages")
"""Modes that `make test-slow` tries, of all stores at once."""

BUSY: Final = 2 * LIMIT
"""MiB for all stores at once: on a machine with ten times its load they took 1.6 of the limit."""


def rows() -> list[ParameterSet]:
    """All stores at once, and each alone: in processes of their own."""
    found: list[ParameterSet] = []
    for mode in MODES:
        stores = SEARCHED if mode == "pages" else STORES
        marks = () if mode in QUICK else (pytest.mark.faults,)
        found.append(pytest.param(mode, stores, id=f"{mode}-all", marks=marks))
        found += [
            pytest.param(mode, (name,), id=f"{mode}-{name}", marks=pytest.mark.faults) for name in stores
        ]
    return found


@pytest.mark.parametrize(("mode", "stores"), rows())
def test_answers_take_no_more_memory_than_they_may(
    tmp_path: Path, mode: str, stores: tuple[str, ...]
) -> None:
    taken = weighed(tmp_path, mode, stores)
    assert taken.over <= (LIMIT if len(stores) == 1 else BUSY), taken
    assert mode == "slow" or set(taken.failures) == set(stores), taken
    for failure in taken.failures.values():
        assert "internal error" not in failure, taken
    assert "Traceback" not in taken.log, taken.log
