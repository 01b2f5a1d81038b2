"""The corpus of dynamic exports, by calls whose expressions run in a worker process, as in the daemon."""

from collections.abc import Iterator

import pytest

from syncret.daemon.engine.work import WorkThreads
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.exports import called, mismatches
from tests.suites.corpus.runners.outcome import settle

pytestmark = pytest.mark.conformance(lane="function", files=("exports.json",))


@pytest.fixture(scope="module")
def threads() -> Iterator[WorkThreads]:
    threads = WorkThreads()
    yield threads
    threads.close()


def test_export(case: Case, threads: WorkThreads) -> None:
    settle(case, mismatches(case, called(case, threads.new_work())))
