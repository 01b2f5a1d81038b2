"""The corpus of sensitive fields, through `syncret release`."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from syncret.daemon.cli.main import main
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.outcome import settle, wait_or_go_on
from tests.suites.corpus.runners.releases import Done, mismatches

pytestmark = pytest.mark.conformance(lane="syncret release", files=("sensitive.yaml",), groups=("cases",))


def test_release(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_or_go_on(case)

    def run(arguments: list[str], environment: Mapping[str, str]) -> Done:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = main(["release", *arguments])
        out, err = capfd.readouterr()
        return Done(code, out, err)

    settle(case, mismatches(case, tmp_path, run))
