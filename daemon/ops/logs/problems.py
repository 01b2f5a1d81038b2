"""Logs what is wrong with manifests, each problem once while it stands."""

import logging
from collections.abc import Sequence
from typing import Final

import structlog

from syncret.config.errors import Severity
from syncret.daemon.homes.contract import HomeProblem
from syncret.daemon.ops.logs.repeats import Repeats, counted

_LEVELS: Final = {
    Severity.ERROR: logging.ERROR,
    Severity.WARNING: logging.WARNING,
    Severity.NOTE: logging.INFO,
}
log = structlog.get_logger()


class ProblemLogger:
    """Logs each new problem, and keeps the current ones."""

    def __init__(self, repeats: Repeats) -> None:
        self._repeats = repeats
        self.current: Sequence[HomeProblem] = ()

    def found(self, problems: Sequence[HomeProblem]) -> None:
        """Take note of the problems that there are now."""
        for each in problems:
            if each in self.current:
                continue
            problem = each.problem
            times = self._repeats.occurred(each.source, f"{problem.path}: {problem.message}")
            if times:  # one that comes and goes is not logged each time
                log.log(
                    _LEVELS[problem.severity],
                    problem.message,
                    at=each.place,
                    path=problem.path,
                    hint=problem.hint,
                    **counted(times),
                )
        self.current = tuple(problems)
