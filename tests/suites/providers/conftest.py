"""Closes a run with what the provider suite found; `SYNCRET_PROVIDER_TABLE=FILE` writes the whole table."""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest

from syncret.providers.testing import ProviderSuite
from tests.suites.providers import matrix
from tests.suites.providers.rest_harness import RestHarness

FILE: Final = "SYNCRET_PROVIDER_TABLE"

_OUTCOMES: Final = pytest.StashKey[list[matrix.CaseOutcome]]()


def _of_suite(item: pytest.Item) -> type[ProviderSuite] | None:
    found = item.cls if isinstance(item, pytest.Function) else None
    return found if isinstance(found, type) and issubclass(found, ProviderSuite) else None


def _name(module: str, suite: str) -> str:
    """The provider and, where it has several faces, which one."""
    provider, face = module.removeprefix("test_"), suite.removeprefix("Test")
    return provider if face.lower() == provider else f"{provider} {face}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The suite of a manager with a REST API runs in `make conformance`; what is its own is tested apart."""
    for item in items:
        if _of_suite(item) is not None and _is_rest(item):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.conformance)


def _is_rest(item: pytest.Item) -> bool:
    names = vars(item.module).values() if isinstance(item, pytest.Function) else ()
    return any(isinstance(each, type) and issubclass(each, RestHarness) for each in names)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    suite = _of_suite(item)
    if suite is not None and (report.when == "call" or not report.passed):
        outcome = {"passed": matrix.PASSED, "failed": matrix.FAILED}.get(report.outcome, matrix.SKIPPED)
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        case = item.name.removeprefix("test_").replace("_", " ").replace("[", ": ").removesuffix("]")
        outcomes = matrix.CaseOutcome(_name(item.path.stem, suite.__name__), case, outcome, reason)
        item.config.stash.setdefault(_OUTCOMES, []).append(outcomes)
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401  # not public
    outcomes = config.stash.get(_OUTCOMES, list[matrix.CaseOutcome]())
    if outcomes:
        terminalreporter.section("providers")
        for line in matrix.summary(outcomes):
            terminalreporter.write_line(line)
        if FILE in os.environ:
            Path(os.environ[FILE]).write_text("\n".join(matrix.markdown(outcomes)) + "\n")
