"""Hands the cases of the corpora to the tests, and closes the run with the table."""

import os
from collections.abc import Generator, Sequence
from typing import Any, Final

import pytest

from tests.suites.corpus.runners import table
from tests.suites.corpus.runners.cases import Case, Corpus, corpus, sample

MARK: Final = "conformance"
"""On a module: `files`, whose cases it runs (of some `groups`, or a `sample`), and `lane`, by which way."""

ALL: Final = "SYNCRET_CONFORMANCE_ALL"
"""Set, it runs all cases where a sample would do."""

_TOLD: Final = pytest.StashKey[list[table.Entry]]()


def _corpus() -> Corpus:
    try:
        return corpus(os.environ.get("SYNCRET_CORPUS"))
    except (OSError, ValueError) as error:
        raise pytest.UsageError(str(error)) from error


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker(MARK)
    if mark is not None and "case" in metafunc.fixturenames:
        groups: Sequence[str] = mark.kwargs.get("groups", ())
        chosen = [
            case
            for case in _corpus().cases
            if case.file in mark.kwargs["files"] and (not groups or case.group in groups)
        ]
        if "sample" in mark.kwargs and not os.environ.get(ALL):
            chosen = sample(chosen, mark.kwargs["sample"])
        metafunc.parametrize("case", chosen, ids=[case.id for case in chosen])


def _case(item: pytest.Item) -> Case | None:
    case = (
        item.callspec.params.get("case")
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else None
    )
    return case if isinstance(case, Case) else None


@pytest.fixture(scope="module")
def chosen(request: pytest.FixtureRequest) -> list[Case]:
    """The cases that this run takes through the module, without those that wait."""
    cases = [_case(item) for item in request.session.items if item.path == request.path]
    return [case for case in cases if case is not None and case.waits_for is None]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    case, mark = _case(item), item.get_closest_marker(MARK)
    if case is not None and mark is not None and (report.when == "call" or not report.passed):
        outcome, text = _outcome(report, case)
        entry = table.Entry(case.family, mark.kwargs["lane"], case.id, outcome, text)
        item.config.stash.setdefault(_TOLD, []).append(entry)
    return report


def _outcome(report: pytest.TestReport, case: Case) -> tuple[str, str]:
    if report.passed:
        return table.PASSED, ""
    if report.failed:
        return table.FAILED, report.longreprtext
    if case.waits_for is not None:
        return table.WAITING, case.waits_for
    return table.UNCERTAIN, str(getattr(report, "wasxfail", ""))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401  # not public
    told = config.stash.get(_TOLD, list[table.Entry]())
    if told:
        terminalreporter.section("conformance")
        for line in table.lines(told, _corpus().not_run):
            terminalreporter.write_line(line)
