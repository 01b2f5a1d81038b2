"""The corpus of dynamic exports, through `syncret evaluate`.

All cases through the command line in the process of the tests, whose worker processes serve one command after
the other. A sample, the same each time, as a process of its own; with SYNCRET_CONFORMANCE_ALL=1, all of them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from syncret.config.settings import Settings
from syncret.daemon.cli.commands import evaluate
from syncret.daemon.cli.main import main
from syncret.daemon.engine.work import WorkLimits, WorkThreads
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.commands import run
from tests.suites.corpus.runners.exports import Printed, commanded, mismatches
from tests.suites.corpus.runners.outcome import ran, settle

pytestmark = pytest.mark.slow


class _Lasting(WorkThreads):
    """Outlives a command."""

    def close(self) -> None:
        """Close nothing: the next command uses the processes."""

    def end(self) -> None:
        """Close them, after the last command."""
        super().close()


@pytest.fixture(scope="module")
def lasting() -> Iterator[_Lasting]:
    threads = _Lasting(WorkLimits.of(Settings()))
    yield threads
    threads.end()


@pytest.mark.conformance(lane="syncret evaluate", files=("exports.json",))
def test_command_line(
    case: Case,
    tmp_path: Path,
    lasting: WorkThreads,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def limited(limits: WorkLimits) -> WorkThreads:
        assert limits == WorkLimits.of(Settings())
        return lasting

    monkeypatch.setattr(evaluate, "WorkThreads", limited)

    def called(*arguments: str) -> Printed:
        code = main([*arguments])
        out, err = capfd.readouterr()
        return Printed(code, out, err)

    settle(case, mismatches(case, ran(commanded(case, tmp_path, called))))


@pytest.mark.conformance(lane="syncret evaluate, as a process", files=("exports.json",), sample=10)
def test_process(case: Case, tmp_path: Path) -> None:
    def called(*arguments: str) -> Printed:
        done = run(*arguments)
        return Printed(done.returncode, done.stdout, done.stderr)

    settle(case, mismatches(case, ran(commanded(case, tmp_path, called))))
