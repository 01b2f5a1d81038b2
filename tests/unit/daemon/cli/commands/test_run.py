"""`syncret run` as a process: how it begins, answers and ends, and what it says where it cannot begin."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from syncret.daemon.signals import SAME_REQUEST
from tests.support.terminals import terminal

pytestmark = pytest.mark.slow

CANARY: Final = "hunter2-canary"
MANIFESTS: Final = f"""\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: demo, namespace: default}}
spec: {{provider: {{fake: {{data: [{{key: database, value: {CANARY}}}]}}}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: database, namespace: default}}
spec:
  secretStoreRef: {{name: demo}}
  data: [{{secretKey: password, remoteRef: {{key: database}}}}]
"""

HANGING: Final = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: hanging}}
spec: {{provider: {{webhook: {{url: "http://127.0.0.1:{port}/", result: {{jsonPath: $.value}}}}}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: hanging}}
spec:
  secretStoreRef: {{name: hanging}}
  data: [{{secretKey: password, remoteRef: {{key: database}}}}]
"""


def command(tmp_path: Path, *more: str) -> list[str]:
    (tmp_path / "manifests.yaml").write_text(MANIFESTS)
    return [
        *(sys.executable, "-c", "import sys; from syncret.daemon.cli.main import main; sys.exit(main())"),
        *("run", "-f", str(tmp_path / "manifests.yaml"), "--output-dir", str(tmp_path / "out")),
        *("--state", str(tmp_path / "state.db"), "--socket", str(tmp_path / "c.sock"), *more),
    ]


@contextmanager
def daemon(tmp_path: Path, *more: str) -> Generator[subprocess.Popen[str], None, None]:
    process = subprocess.Popen(command(tmp_path, *more), stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ask(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from syncret.daemon.cli.main import main; sys.exit(main())"
    words = [sys.executable, "-c", code, *arguments, "--socket", str(tmp_path / "c.sock")]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def until_ready(tmp_path: Path) -> dict[str, object]:
    """The status, once the first pass is done."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        told = ask(tmp_path, "status", "-o", "json")
        if told.returncode == 0:
            status: dict[str, object] = json.loads(told.stdout)
            if status["ready"]:
                return status
        time.sleep(0.1)
    pytest.fail("not ready within 60 s")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_life(tmp_path: Path, number: signal.Signals) -> None:
    port = free_port()
    with daemon(tmp_path, "--listen", f"127.0.0.1:{port}") as process:
        until_ready(tmp_path)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as response:
            text = response.read().decode()
        assert 'syncret_objects{kind="ExternalSecret"} 1' in text
        assert "process_resident_memory_bytes" in text
        told = ask(tmp_path, "explain", "es/database")
        assert "secret synced" in told.stdout
        assert ask(tmp_path, "refresh", "es/database").returncode == 0
        assert (tmp_path / "out/default/database/password").read_text() == CANARY
        process.send_signal(number)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert CANARY not in text + told.stdout + log
    assert not (tmp_path / "c.sock").exists()


@contextmanager
def hanging(tmp_path: Path, *more: str) -> Generator[subprocess.Popen[str], None, None]:
    """A daemon in the middle of a call that nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        files = HANGING.format(port=port), f"listen: ''\nlogFormat: json\n{''.join(more)}"
        for name, text in zip(("hanging.yaml", "syncret.yaml"), files, strict=True):
            (tmp_path / name).write_text(text)
        words = ["-f", str(tmp_path / "hanging.yaml"), "--config", str(tmp_path / "syncret.yaml")]
        with daemon(tmp_path, *words) as process, accept_request(server):
            yield process


def accept_request(server: socket.socket) -> socket.socket:
    """The first connection on which a request comes: the store's validation only connects, and hangs up."""
    server.settimeout(60)
    while True:
        caller, _ = server.accept()
        caller.settimeout(60)
        if caller.recv(1):
            return caller
        caller.close()


def log_of(process: subprocess.Popen[str], *events: str) -> str:
    """What it logs, up to the last of these events; they come in this order."""
    assert process.stderr is not None
    told = ""
    for event in events:
        while event not in (line := process.stderr.readline()):
            told += line
            assert line, f"ended without {event!r}:\n{told}"
        told += line
    return told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_drain(tmp_path: Path, number: signal.Signals) -> None:
    with hanging(tmp_path, "drainTimeout: 1h\n") as process:
        process.send_signal(number)
        log_of(process, "stopping")
        time.sleep(SAME_REQUEST)
        process.send_signal(number)
        _, log = process.communicate(timeout=60)
    assert process.returncode == -number
    assert "stopped at once by a second signal" in log
    assert "Traceback" not in log


def test_a_signal_that_comes_twice_is_one_wish(tmp_path: Path) -> None:
    with hanging(tmp_path, "drainTimeout: 500ms\n") as process:
        process.send_signal(signal.SIGTERM)
        log_of(process, "stopping")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopped at once" not in log


def test_a_stop_while_a_reload_drains_is_the_end(tmp_path: Path) -> None:
    with hanging(tmp_path, "drainTimeout: 500ms\n") as process:
        process.send_signal(signal.SIGHUP)
        log_of(process, "reloading")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopping" in log
    assert "the first pass begins" not in log


def test_reloads_that_are_asked_for_during_a_drain_are_one(tmp_path: Path) -> None:
    with hanging(tmp_path, "drainTimeout: 500ms\n") as process:
        process.send_signal(signal.SIGHUP)
        log_of(process, "reloading")
        process.send_signal(signal.SIGHUP)
        log_of(process, "the first pass begins")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "reloading" not in log


def test_a_reload_keeps_the_socket_and_takes_the_new_settings(tmp_path: Path) -> None:
    settings = tmp_path / "syncret.yaml"
    settings.write_text("logLevel: info\n")
    with daemon(tmp_path, "--listen", "", "--config", str(settings)) as process:
        until_ready(tmp_path)
        settings.write_text("logLevel: debug\n")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        until_ready(tmp_path)
        process.terminate()
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert '"level": "debug"' in log


def test_a_port_in_use_ends_with_3_before_anything_is_written(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        ran = subprocess.run(
            command(tmp_path, "--listen", address), capture_output=True, text=True, check=False, timeout=60
        )
    assert ran.returncode == 3
    assert f"cannot listen on {address}: another process listens there already" in ran.stderr
    assert "--listen HOST:PORT" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["manifests.yaml"]


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        pytest.param(["--set", "worker=3"], 2, "did you mean workers?", id="unknown-setting"),
        pytest.param(["--set", "workers"], 2, "NAME=VALUE", id="no-value"),
        pytest.param(["--config", "/nowhere.yaml"], 2, "/nowhere.yaml: cannot be read", id="no-file"),
        pytest.param(["--listen", "x"], 2, "--listen: is not an address and port", id="no-address"),
    ],
)
def test_wrong_settings_end_before_anything_begins(
    tmp_path: Path, more: list[str], code: int, message: str
) -> None:
    ran = subprocess.run(command(tmp_path, *more), capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == code
    assert message in ran.stderr
    assert not (tmp_path / "state.db").exists()


MANY: Final = MANIFESTS + "".join(
    f"""\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: app-{number}, namespace: default}}
spec:
  secretStoreRef: {{name: demo}}
  data: [{{secretKey: password, remoteRef: {{key: {"database" if number % 2 else "gone"}}}}}]
"""
    for number in range(30)
)


def test_on_a_terminal_it_shows_progress_and_a_summary_of_many_objects(tmp_path: Path) -> None:
    words = command(tmp_path, "--listen", "")
    (tmp_path / "manifests.yaml").write_text(MANY)
    with terminal(80) as screen:
        environ = {**os.environ, "TERM": "xterm", "SYNCRET_LOG_FORMAT": "auto"}
        process = subprocess.Popen(words, stdout=screen.stream, stderr=screen.stream, env=environ)
        try:
            deadline = time.monotonic() + 60
            while "ask it:" not in screen.raw and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert "\r\x1b[Ksyncing " in screen.raw
    assert "syncing" not in screen.text
    assert "created object=" not in screen.text
    assert screen.text.count("[warning ") == 3
    table = screen.text.partition("KIND ")[2]
    assert table.count("ExternalSecret  default/app-") == 10
    assert "\n32 objects, 15 not in order, 5 of them not shown here\n" in table
    assert "\n16 created, 0 changed, 0 deleted, 15 failed, 0 invalid in " in table
