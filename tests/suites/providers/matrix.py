"""The table of the provider suite: a row for each case, a column for each provider, then what was skipped."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

PASSED, FAILED, SKIPPED = "yes", "FAILED", "-"
_NOT_RUN: Final = ""


class CaseOutcome(NamedTuple):
    """The outcome of one case of one provider; `reason` if it was skipped."""

    provider: str
    case: str
    outcome: str
    reason: str


def markdown(results: Iterable[CaseOutcome]) -> Iterator[str]:
    """The lines of the table and of the reasons."""
    outcomes = {(each.provider, each.case): each for each in results}
    providers = sorted({provider for provider, _ in outcomes})
    cases = list(dict.fromkeys(case for _, case in outcomes))
    yield f"| case | {' | '.join(providers)} |"
    yield f"|---{'|---' * len(providers)}|"
    for case in cases:
        cells = [outcomes.get((provider, case)) for provider in providers]
        yield f"| {case} | {' | '.join(_NOT_RUN if cell is None else cell.outcome for cell in cells)} |"
    reasons = sorted({(each.provider, each.reason) for each in outcomes.values() if each.reason})
    if reasons:
        yield ""
    for provider, reason in reasons:
        yield f"- {provider} {reason}"


def summary(results: Iterable[CaseOutcome]) -> Iterator[str]:
    """A line for each provider."""
    outcomes = list(results)
    for provider in sorted({each.provider for each in outcomes}):
        found = [each.outcome for each in outcomes if each.provider == provider]
        counts = ", ".join(
            f"{found.count(outcome)} {word}"
            for outcome, word in ((PASSED, "passed"), (FAILED, "failed"), (SKIPPED, "skipped"))
            if found.count(outcome)
        )
        yield f"{provider}: {counts}"
