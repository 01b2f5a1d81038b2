"""What becomes of a command whose streams are closed, full, or read by nobody: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BAD = "apiVersion: v1\nkind: Secretz\nmetadata: {name: x}\n"
pytestmark = pytest.mark.slow  # each is a process

SYNCRET = (sys.executable, "-c", "import sys; from syncret.daemon.cli.main import main; sys.exit(main())")


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "bad.yaml"
    path.write_text("---\n".join([BAD] * 2000))
    return path


def run(redirection: str, *arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """The command by way of a shell, which is where streams are closed."""
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *SYNCRET, *arguments],
        capture_output=True,
        check=False,
        timeout=60,
        encoding="utf-8",
        env={**os.environ, **environ},
    )


@pytest.mark.parametrize(
    "redirection",
    [
        pytest.param(">&-", id="no output"),
        pytest.param("2>&-", id="no errors"),
        pytest.param("<&- >&- 2>&-", id="nothing"),
        pytest.param("2>/dev/full", id="errors to a full disk"),
    ],
)
def test_the_exit_code_is_that_of_the_work(manifest: Path, redirection: str) -> None:
    done = run(redirection, "validate", "-f", str(manifest))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_makes_nothing_right(manifest: Path) -> None:
    report = subprocess.Popen(
        [*SYNCRET, "validate", "-f", str(manifest)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    with report:
        assert report.stdout is not None
        assert report.stderr is not None
        report.stdout.close()
        assert "Traceback" not in report.stderr.read()
    assert report.returncode == 2


@pytest.mark.parametrize("arguments", [["validate", "-f", "{}"], ["--help"]], ids=["command", "help"])
def test_a_full_disk_is_told(manifest: Path, arguments: list[str]) -> None:
    done = run(">/dev/full", *(each.format(manifest) for each in arguments))
    assert done.returncode == 3
    assert done.stderr.endswith("syncret: cannot print: No space left on device"
                                " (give the output a place that can take it)\n")  # fmt: skip


def test_what_is_printed_comes_before_what_is_said_of_it(manifest: Path) -> None:
    done = run("2>&1", "validate", "-f", str(manifest))
    assert done.stdout.endswith(" errors, 0 warnings\n")


def test_names_are_printed_whatever_the_locale(tmp_path: Path) -> None:
    (tmp_path / "ü.yaml").write_text(BAD)
    done = run("", "validate", "-f", str(tmp_path), "-o", "json", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert f'"file": "{tmp_path}/ü.yaml"' in done.stdout


def test_closed_streams_leave_their_numbers_to_nobody() -> None:
    code = (
        "import os, sys; from syncret.daemon.cli.dispatch import replace_standard_streams as run; run();"
        "fd = os.open('/', os.O_RDONLY); sys.exit(0 if fd > 2 else 1)"
    )
    done = subprocess.run(
        ["sh", "-c", '"$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code], check=False, timeout=60
    )
    assert done.returncode == 0
