"""The corpus of templates, through `syncret template` as a process.

A sample, the same each time; with SYNCRET_CONFORMANCE_ALL=1, all of them.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future

import pytest

from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.outcome import settle, wait_or_go_on
from tests.suites.corpus.runners.renderings import Rendering, mismatches, rendering

pytestmark = [
    pytest.mark.conformance(
        lane="syncret template", files=("gotemplate.json", "sprig.json"), groups=("cases",), sample=40
    ),
    pytest.mark.slow,  # each case is a process; `test_functions.py` runs them all in one
]


@pytest.fixture(scope="module")
def renderings(
    chosen: list[Case], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[Case, Future[Rendering]]]:
    with rendering(chosen, tmp_path_factory.mktemp("template")) as renderings:
        yield renderings


def test_template(case: Case, renderings: Mapping[Case, Future[Rendering]]) -> None:
    wait_or_go_on(case)
    settle(case, mismatches(case, renderings[case].result()))
