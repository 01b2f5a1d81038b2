"""Ctrl-C and SIGTERM end a command quietly at any moment of its life, and in the way that callers know."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.slow  # each is a process

INTERRUPTED: Final = """
import atexit, os, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {moment!r}:
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Interrupts())
if {moment!r} == "exit":
    atexit.register(os.kill, os.getpid(), {number})
from syncret.daemon.cli.main import main
sys.exit(main())
"""


def interrupted(
    moment: str, number: signal.Signals, manifests: Path, shell: str = '"$@"; exit $?'
) -> "subprocess.CompletedProcess[str]":
    """`syncret validate`, to which a signal comes when it imports a module, or when it exits.

    As a shell has it, whose exit code is 128 and the signal's number where the command died of one.
    """
    code = INTERRUPTED.format(moment=moment, number=int(number))
    command = [sys.executable, "-c", code, "validate", "-f", str(manifests)]
    return subprocess.run(
        ["sh", "-c", shell, "sh", *command], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("syncret.daemon.fatal_signal", id="at its first line"),
        pytest.param("argparse", id="before the command line is read"),
        pytest.param("syncret.daemon.cli.commands.validate", id="before the command is there"),
        pytest.param("syncret.config.schema.admission", id="while the command is imported"),
        pytest.param("syncret.providers.fake", id="while it works"),
        pytest.param("exit", id="when all is done"),
    ],
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_ends_without_a_word(
    tmp_path: Path, moment: str, number: signal.Signals, code: int
) -> None:
    manifests = tmp_path / "a.yaml"
    manifests.write_text(
        "apiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: a}\n"
        "spec: {provider: {fake: {data: []}}}\n"
    )
    ended = interrupted(moment, number, manifests)
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr
    assert "KeyboardInterrupt" not in ended.stderr


def test_a_shell_sees_that_it_was_the_signal(tmp_path: Path) -> None:
    ended = interrupted("syncret.config.schema.admission", signal.SIGINT, tmp_path, 'exec "$@"')
    assert ended.returncode == -signal.SIGINT


def test_a_signal_that_the_caller_ignores_stays_ignored(tmp_path: Path) -> None:
    shell = 'trap "" INT; exec "$@"'
    assert interrupted("syncret.config.schema.admission", signal.SIGINT, tmp_path, shell).returncode == 0
