"""What is wrong with the exports of resources of other operators, found before anything is read or called."""

from collections.abc import Iterator

from syncret.config.errors import Problem, Severity
from syncret.config.fields import Json
from syncret.config.meta import is_object, member
from syncret.config.settings import Settings
from syncret.daemon.core.exports.evaluation import check_all, has_engine, no_engine
from syncret.daemon.core.exports.plan import plan
from syncret.daemon.core.exports.spec import read_exports
from syncret.daemon.engine.work import WorkLimits, WorkThreads


class ExportChecks:
    """Checks documents, with a worker process once there is one with exports. Close it in the end."""

    def __init__(self, settings: Settings) -> None:
        self._limits = WorkLimits.of(settings)
        self._threads: WorkThreads | None = None

    def warnings(self, document: Json) -> Iterator[Problem]:
        """What an API server admits, and the daemon refuses: with the path of the entry."""
        if not is_object(document) or not member(document, "spec", "operatorSpec"):
            return
        exports = read_exports(document)
        if not exports.entries and not exports.problems:
            return
        if not has_engine():
            missing = no_engine()
            yield _warning("spec.operatorSpec", missing.message, missing.hint)
            return
        if self._threads is None:
            self._threads = WorkThreads(self._limits)
        (checked,) = check_all([[each.text for each in exports.expressions]], self._threads.new_work())
        for problem in plan(exports, checked).problems:
            yield _warning(f"spec.{problem.path}", problem.message, problem.hint)

    def close(self) -> None:
        """End the worker process."""
        if self._threads is not None:
            self._threads.close()


def _warning(path: str, message: str, hint: str) -> Problem:
    return Problem(path=path, message=message, hint=hint, severity=Severity.WARNING, runtime=True)
