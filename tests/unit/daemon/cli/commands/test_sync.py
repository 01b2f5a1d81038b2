"""sync as a person sees it: what it prints, and how it ends."""

from pathlib import Path

import pytest

from syncret.daemon.cli.main import main

MANIFEST = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo}
spec:
  refreshIntervall: 5
  provider: {fake: {data: []}}
"""


def test_warnings_are_told_and_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "store.yaml"
    file.write_text(MANIFEST)
    assert main(["sync", "-f", str(file)]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(f"{file}:5: warning: spec.refreshIntervall: unknown field, it is dropped")
    assert ", 0 invalid in " in told[1]
    assert len(told) == 2
