"""What becomes of a case as a test."""

from collections.abc import Iterable
from typing import TypeVar

import pytest

from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import Unknown

T = TypeVar("T")


def wait_or_go_on(case: Case) -> None:
    """Skip, aloud, a case that needs a feature to come."""
    if case.waits_for is not None:
        pytest.skip(f"{case.family}: waits for {case.waits_for}")


def ran(outcome: T | str) -> T:
    """The outcome of a case that ran; fail, however uncertain the case, with the reason why it did not."""
    if isinstance(outcome, str):
        pytest.fail(outcome, pytrace=False)
    return outcome


def settle(case: Case, mismatches: Iterable[str]) -> None:
    """Fail with everything that differs; a case that is itself uncertain may differ, and is listed apart."""
    try:
        text = "\n".join(mismatches)
    except Unknown as error:
        pytest.fail(str(error), pytrace=False)
    if text and case.uncertain:
        pytest.xfail(f"uncertain: {text}")
    if text:
        pytest.fail(text, pytrace=False)
