"""The folder of a demo: what it may be, and what is left alone in it."""

import os
from argparse import Namespace
from pathlib import Path

import pytest

from syncret.daemon.cli.commands import demo
from syncret.daemon.cli.main import main
from tests.suites.docs.pages import ROOT

SAMPLES = ROOT / "config" / "samples" / "quickstart"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Stands in for the daemon; the manifests of each start."""
    starts: list[list[str]] = []

    def start(options: Namespace, _announce: object) -> int:
        starts.append(sorted(each.name for each in Path(options.manifests[0]).iterdir()))
        return 0

    monkeypatch.setattr(demo, "run_daemon", start)
    return starts


def test_the_samples_of_the_package_are_in_a_temporary_folder_that_is_removed(
    started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo"]) == 0
    assert started == [sorted(each.name for each in SAMPLES.iterdir())]
    folder = capsys.readouterr().out.removeprefix("The demo is in ").partition(":")[0]
    assert not Path(folder).exists()


def test_a_folder_is_made_and_kept_with_its_changes(started: list[list[str]], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    assert main(["demo", os.fspath(folder)]) == 0
    (folder / "manifests" / "03-payments.yaml").unlink()
    (folder / "manifests" / "01-store.yaml").write_text("# mine")
    (folder / "state.db").touch()

    assert main(["demo", os.fspath(folder)]) == 0
    assert "03-payments.yaml" not in started[1]
    assert (folder / "manifests" / "01-store.yaml").read_text() == "# mine"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_with_other_files_is_refused(
    started: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").touch()
    assert main(["demo", os.fspath(tmp_path)]) == 2
    assert "holds other files, such as thesis.txt (name a new folder, or none)" in capsys.readouterr().err
    assert started == []


def test_a_folder_that_cannot_be_used_is_named(
    started: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.touch()
    assert main(["demo", os.fspath(file)]) == 3
    assert f"syncret: {file}: File exists" in capsys.readouterr().err
    assert started == []
