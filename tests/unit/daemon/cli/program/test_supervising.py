"""A supervised program is started again, told and stopped as a person or an init system expects."""

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support.servers.small_vault import SmallVault, served, vault_sets, vault_store

pytestmark = pytest.mark.slow  # each becomes processes

MANIFEST = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo}
spec: {provider: {fake: {data: [{key: a, value: old}, {key: b, value: new}]}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db}
spec: {secretStoreRef: {name: demo}, data: [{secretKey: password, remoteRef: {key: a}}]}
"""
COMMAND: Final = (
    sys.executable,
    "-c",
    (
        "from syncret.daemon.cli.program import supervising; supervising.BETWEEN_STARTS = 0.0\n"
        "import sys; from syncret.daemon.cli.main import main; sys.exit(main())"
    ),
)
"""`syncret`, in which one start may follow the other at once."""

PROGRAM = """\
import os, signal, sys, time
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
for name in sys.argv[1:]:
    signal.signal(signal.Signals[name], lambda number, _: say(signal.Signals(number).name))
say("runs", os.environ["PASSWORD"], os.getpid(), os.getpgrp(), os.getsid(0))
while True:
    time.sleep(0.05)
"""


SHELL = """\
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if not pid:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(pid, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    os.write(1, b"stopped\\n")
    os.tcsetpgrp(0, pid)
    os.killpg(pid, signal.SIGCONT)
os.write(1, f"ended {os.waitstatus_to_exitcode(status)}\\n".encode())
"""
"""A shell with job control: it brings back at once what was stopped."""


class Running:
    """A supervised program, line by line."""

    def __init__(self, process: subprocess.Popen[bytes], output: int) -> None:
        self.process = process
        self._output = output
        self._rest = b""

    def line(self) -> str:
        """What it says next, or how it ended."""
        while b"\n" not in self._rest:
            piece = self._read()
            if not piece:
                raise AssertionError(f"it ended with {self.process.wait()}: {self._rest!r}")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode().strip()

    def _read(self) -> bytes:
        if not select.select([self._output], [], [], 60)[0]:
            raise AssertionError("it says nothing")
        try:
            return os.read(self._output, 4096)
        except OSError:  # a terminal without anybody left
            return b""

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        return self.process.wait(60)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "manifests.yaml"
    path.write_text(MANIFEST)
    return path


def rotate(manifest: Path) -> None:
    new = manifest.with_suffix(".new")
    new.write_text(MANIFEST.replace("{key: a}}]", "{key: b}}]"))
    new.replace(manifest)


@contextmanager
def supervised(
    manifest: Path,
    *flags: str,
    program: Sequence[str],
    stdin: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
    env: Mapping[str, str] | None = None,
) -> Generator[Running]:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [*COMMAND, "exec", "-f", manifest, "--debounce", "50ms", *flags, "--", *program],
        stdin=stdin,
        stdout=writer,
        stderr=writer if stderr == subprocess.STDOUT else stderr,
        start_new_session=True,
        env={**os.environ, **(env or {})},
    )
    os.close(writer)
    try:
        yield Running(process, reader)
    finally:
        with process:
            process.kill()
        os.close(reader)


@contextmanager
def on_terminal(manifest: Path, *, program: Sequence[str]) -> Generator[tuple[Running, int]]:
    """The same as the job of a shell on a terminal, and what is typed there."""
    typed, side = pty.openpty()
    flags = ("exec", "-f", str(manifest), "--on-change", "restart", "--")
    shell = (sys.executable, "-c", SHELL, *COMMAND, *flags, *program)
    reader, writer = os.pipe()
    process = subprocess.Popen(
        shell, stdin=side, stdout=writer, stderr=subprocess.DEVNULL, start_new_session=True
    )
    os.close(side)
    os.close(writer)
    try:
        yield Running(process, reader), typed
    finally:
        os.close(typed)  # hangs up: all of the session end
        with process:
            process.kill()
        os.close(reader)


def python(*signals: str) -> tuple[str, ...]:
    return (sys.executable, "-c", PROGRAM, *signals)


def test_new_values_start_it_again_and_it_is_asked_to_end_before(manifest: Path) -> None:
    with supervised(manifest, "--on-change", "restart", program=python()) as running:
        _, value, first, group, _ = running.line().split()
        assert (value, group) == ("old", first)
        rotate(manifest)
        _, value, second, *_ = running.line().split()
        assert value == "new"
        assert second != first
        assert not Path(f"/proc/{first}").exists()
        running.send(signal.SIGTERM)
        assert running.end() == -signal.SIGTERM


def test_with_a_cache_it_begins_while_the_manager_is_away_and_gets_new_values_later(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path, key = tmp_path / "manifests.yaml", tmp_path / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    env = {
        "XDG_CACHE_HOME": str(tmp_path),
        "SYNCRET_CACHE_KEY": f"file:{key}",
        "SYNCRET_CALL_ATTEMPTS": "1",
    }
    flags = ("--on-change", "restart", "--cache")
    with served(SmallVault()) as vault:
        path.write_text(vault_store(vault) + vault_sets("vault", 1, "1h"))
        with supervised(path, *flags, program=python(), env=env) as running:
            _, first, *_ = running.line().split()
            running.send(signal.SIGTERM)
            running.end()
        vault.goes_away()
        with supervised(path, *flags, program=python(), stderr=subprocess.STDOUT, env=env) as running:
            assert "values from the cache" in running.line()
            assert running.line().split()[:2] == ["runs", first]
            vault.comes_back()
            while not (line := running.line()).startswith("runs"):
                assert "syncret" in line or "vault" in line
            assert line.split()[1] != first
            running.send(signal.SIGTERM)
            assert running.end() == -signal.SIGTERM


def test_one_that_does_not_end_is_killed(manifest: Path) -> None:
    flags = ("--on-change", "restart", "--stop-timeout", "100ms")
    with supervised(manifest, *flags, program=python("SIGTERM")) as running:
        running.line()
        rotate(manifest)
        assert running.line() == "SIGTERM"
        assert running.line().startswith("runs new")
        running.send(signal.SIGTERM)
        assert running.line() == "SIGTERM"
        assert running.end() == -signal.SIGKILL


def test_a_second_request_to_end_kills(manifest: Path) -> None:
    with supervised(manifest, "--on-change", "restart", program=python("SIGTERM")) as running:
        running.line()
        running.send(signal.SIGTERM)
        assert running.line() == "SIGTERM"
        while running.process.poll() is None:
            running.send(signal.SIGTERM)
            select.select([], [], [], 0.1)
        assert running.end() == -signal.SIGKILL


def test_a_signal_tells_of_new_files_instead(manifest: Path, tmp_path: Path) -> None:
    flags = ("--on-change", "signal:HUP", "--files", str(tmp_path / "files"))
    with supervised(manifest, *flags, program=python("SIGHUP")) as running:
        running.line()
        rotate(manifest)
        assert running.line() == "SIGHUP"
        assert (tmp_path / "files/default/db/password").read_bytes() == b"new"
        running.send(signal.SIGTERM)
        assert running.end() == -signal.SIGTERM


def test_what_others_send_is_sent_on(manifest: Path) -> None:
    names = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGWINCH")
    with supervised(manifest, "--on-change", "restart", program=python(*names)) as running:
        running.line()
        for name in names:
            running.send(signal.Signals[name])
            assert running.line() == name


def test_a_program_that_ends_by_itself_is_not_started_again(manifest: Path) -> None:
    with supervised(manifest, "--on-change", "restart", program=["sh", "-c", "exit 7"]) as running:
        assert running.end() == 7


@pytest.mark.parametrize(
    ("program", "code"),
    [
        pytest.param(["no-such-program"], 127, id="no such program"),
        pytest.param(["/etc/passwd"], 126, id="not executable"),
        pytest.param(
            ["sh", "-c", "kill -PIPE $$"], -signal.SIGPIPE, id="its signal, one that Python ignores"
        ),
    ],
)
def test_the_exit_code_says_how_it_ended(manifest: Path, program: list[str], code: int) -> None:
    with supervised(manifest, "--on-change", "restart", program=program) as running:
        assert running.end() == code


def test_the_program_finds_what_we_found(manifest: Path) -> None:
    report = (
        "import json, os, resource; print(json.dumps([sorted(os.listdir('/proc/self/fd')), "
        "resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_NOFILE), "
        "[line for line in open('/proc/self/status') if line.startswith(('SigBlk', 'SigIgn'))]]))"
    )
    with supervised(
        manifest, "--on-change", "restart", program=[sys.executable, "-I", "-c", report]
    ) as running:
        supervised_one = json.loads(running.line())
    bare = subprocess.run([sys.executable, "-I", "-c", report], capture_output=True, check=True)
    assert supervised_one == json.loads(bare.stdout)


def test_orphans_leave_no_zombies(manifest: Path) -> None:
    script = "(true & sleep 0.05 & exec true) ; sleep 0.2; echo $PPID; while :; do sleep 0.05; done"
    with supervised(manifest, "--on-change", "restart", program=["sh", "-c", script]) as running:
        parent = running.line()
        states = [
            Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2][0]
            for task in Path(f"/proc/{parent}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
        assert states
        assert "Z" not in states


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare")
def test_as_the_first_process_it_reaps_and_gives_the_code_of_a_shell(manifest: Path) -> None:
    script = '(sleep 0.05 &) ; sleep 0.2; test -z "$(ps -o stat= --ppid 1 | grep Z)" && kill -TERM $$'
    done = subprocess.run(
        [
            "unshare",
            "--pid",
            "--fork",
            "--mount-proc",
            *COMMAND,
            "exec",
            "-f",
            manifest,
            "--on-change",
            "restart",
            "--",
            "sh",
            "-c",
            script,
        ],
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGTERM


def test_on_a_terminal_it_shares_the_group_and_hears_ctrl_c_once(manifest: Path) -> None:
    with on_terminal(manifest, program=python("SIGINT", "SIGUSR1", "SIGCONT")) as (running, typed):
        _, _, program, group, _ = running.line().split()
        assert group != program
        os.write(typed, b"\x03")
        assert running.line() == "SIGINT"
        os.kill(int(group), signal.SIGUSR1)
        assert running.line() == "SIGUSR1"  # no second SIGINT before it
        os.kill(int(group), signal.SIGINT)
        assert running.line() == "SIGINT"
        os.write(typed, b"\x1a")
        assert {running.line(), running.line()} == {"stopped", "SIGCONT"}
        os.kill(int(program), signal.SIGKILL)
        while (line := running.line()) == "SIGCONT":  # the shell's, and ours
            pass
        assert line == f"ended {-signal.SIGKILL}"


def test_it_can_read_from_its_terminal(manifest: Path) -> None:
    with on_terminal(manifest, program=["sh", "-c", 'echo ready; read word; echo "$word"']) as (
        running,
        typed,
    ):
        assert running.line() == "ready"
        os.write(typed, b"typed\n")
        assert running.line() == "typed"
        assert running.line() == "ended 0"
