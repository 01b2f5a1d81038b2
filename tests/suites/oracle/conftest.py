"""One oracle and one table for the run. ORACLE_CASES says how many cases, ORACLE_SEED which."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from tests.suites.oracle.client import Oracle
from tests.suites.oracle.tally import Tally
from tests.support.servers.golang import need_go

CASES: Final = 5000
_TALLY: Final = pytest.StashKey[Tally]()
_HERE: Final = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TALLY] = Tally()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.oracle)


@pytest.fixture(scope="session")
def oracle() -> Generator[Oracle]:
    need_go()
    with Oracle() as process:
        yield process


@pytest.fixture
def tally(pytestconfig: pytest.Config) -> Tally:
    return pytestconfig.stash[_TALLY]


class Share:
    """A part of the run's cases, each with a chance of its own: `for chance in share("printf", 0.1)`."""

    def __init__(self) -> None:
        self._total = int(os.environ.get("ORACLE_CASES") or CASES)
        self._seed = os.environ.get("ORACLE_SEED") or "1"

    def __call__(self, family: str, part: float, *, most: int = 10**9) -> Iterator[Random]:
        for index in range(min(most, max(1, round(self._total * part)))):
            yield Random(f"{self._seed} {family} {index}")  # noqa: S311 (the same cases every time)


@pytest.fixture(scope="session")
def share() -> Share:
    return Share()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401  # not public
    tally = config.stash[_TALLY]
    if tally.rows:
        terminalreporter.section("against the operator's own packages")
        for line in tally.lines():
            terminalreporter.write_line(line)
