"""CUE without its command, or with one that cannot be used."""

from pathlib import Path

import pytest

from syncret.daemon.cli.commands.release import LIMITS
from syncret.daemon.cli.main import main
from syncret.daemon.cli.releasing.cue import exported


def test_without_the_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNCRET_CUE", "no-such-command")
    (tmp_path / "x.cue").write_text("release: {}")
    for path in (tmp_path, tmp_path / "x.cue"):
        assert main(["release", "-f", str(path)]) == 2
        told = capfd.readouterr().err
        assert "is CUE, and there is no command no-such-command" in told
        assert "go install cuelang.org/go/cmd/cue@latest" in told
        assert "`cue export -e release` makes JSON" in told


def test_a_missing_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNCRET_CUE", "/bin/true")
    (document,) = exported("/nowhere/x.cue", LIMITS)
    assert document.problems[0].message == "there is no such file or folder"
