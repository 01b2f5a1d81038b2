"""Reloads of processes, programs and servers of this host, and their results."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copyfile, which
from subprocess import Popen
from typing import Any

import msgspec
import pytest

from syncret.config.resources.delivery.steps import DeliveryReload
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.delivery.paths import Refused
from syncret.daemon.delivery.processes import finding
from syncret.daemon.delivery.reloading import reload_key, request_reload
from syncret.daemon.delivery.units import ActionResult
from tests.unit.daemon.delivery.world import FakeUnits


def reload(**step: Any) -> DeliveryReload:  # noqa: ANN401  # any field
    return msgspec.convert(step, DeliveryReload)


async def reload_result(**step: Any) -> ActionResult:  # noqa: ANN401  # as above
    return await request_reload(reload(**step), FakeUnits(), variables={}, values=(b"s3cr3t-value",))


@asynccontextmanager
async def server(status: int, requests: list[str]) -> AsyncGenerator[int, None]:
    """An HTTP server that answers with a status; the requests that it got."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 %d Fine\r\nContent-Length: 0\r\n\r\n" % status)
        await writer.drain()
        writer.close()

    found = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with found:
        port: int = found.sockets[0].getsockname()[1]
        yield port


async def test_a_server_of_this_host_is_asked() -> None:
    requests: list[str] = []
    async with server(204, requests) as port:
        http = {"url": f"http://127.0.0.1:{port}/-/reload?now=1", "headers": {"X-Who": "syncret"}}
        assert (await reload_result(http=http)).outcome is Outcome.DONE
    assert requests[0].startswith(
        f"POST /-/reload?now=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Who: syncret"
    )


async def test_another_status_is_a_failure() -> None:
    async with server(503, []) as port:
        result = await reload_result(http={"url": f"http://127.0.0.1:{port}/"})
    assert (result.outcome, result.message) == (
        Outcome.FAILED,
        f"http://127.0.0.1:{port}/: status 503, not 200-299",
    )


async def test_a_socket_file_is_asked_and_its_folder_must_be_safe(tmp_path: Path) -> None:
    requests: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 200 Fine\r\n\r\n")
        writer.close()

    path = tmp_path / "app.sock"
    async with await asyncio.start_unix_server(answer, path):
        assert (await reload_result(http={"url": f"unix:{path}"})).outcome is Outcome.DONE
        assert requests[0].startswith("POST / HTTP/1.1\r\nHost: localhost\r\n")
        await asyncio.to_thread(tmp_path.chmod, 0o777)
        with pytest.raises(Refused, match="is writable by everybody"):
            await reload_result(http={"url": f"unix:{path}"})


async def test_nobody_listens() -> None:
    async with server(200, []) as port:
        pass
    assert (await reload_result(http={"url": f"http://127.0.0.1:{port}/"})).outcome is Outcome.FAILED


async def test_a_unit_is_told_as_the_manifest_says() -> None:
    units = FakeUnits()
    step = reload(unit="app.service", action="restart")
    assert (await request_reload(step, units, variables={}, values=())).outcome is Outcome.DONE
    assert units.asked == [("app.service", "restart")]


def test_deliveries_that_tell_the_same_have_the_same_turns() -> None:
    assert reload_key(reload(unit="a.service")) == reload_key(reload(unit="a.service", action="restart"))
    assert reload_key(reload(signal={"signal": "SIGHUP", "pidFile": "/run/a.pid"})) == "/run/a.pid"
    assert reload_key(reload(exec=["/usr/bin/true", "x"])) == "/usr/bin/true x"
    assert reload_key(None) == ""


@pytest.mark.slow
async def test_a_program_says_how_it_went_and_no_value(tmp_path: Path) -> None:
    assert (await reload_result(exec=["/usr/bin/true"])).outcome is Outcome.DONE
    result = await reload_result(exec=["/usr/bin/dash", "-c", "echo no s3cr3t-value; exit 3"])
    assert (result.outcome, result.message) == (Outcome.FAILED, "exit code 3: no [redacted]")
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o777)
    with pytest.raises(Refused, match="is writable by everybody"):
        await reload_result(exec=[str(script)])


@pytest.fixture
def process(tmp_path: Path) -> Generator[tuple["Popen[bytes]", Path], None, None]:
    """A process that says when it has got SIGHUP, and its pid file."""
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGHUP, lambda *_: (print('hup', flush=True), sys.exit()))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    with Popen([sys.executable, "-c", code], stdout=-1) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        path = tmp_path / "app.pid"
        path.write_text(f"{running.pid}\n")
        path.chmod(0o644)
        yield running, path
        running.kill()


@pytest.mark.slow
async def test_a_process_is_signalled_by_its_pid_file(process: tuple["Popen[bytes]", Path]) -> None:
    running, path = process
    assert (await reload_result(signal={"signal": "SIGHUP", "pidFile": str(path)})).outcome is Outcome.DONE
    assert running.stdout is not None
    assert running.stdout.readline() == b"hup\n"
    running.wait()
    gone = await reload_result(signal={"signal": "SIGHUP", "pidFile": str(path)})
    assert gone.outcome is Outcome.NOT_RUNNING


@pytest.mark.parametrize("text", ["1", "0", "abc", "9" * 40, "-5", str(os.getpid())])
async def test_a_pid_file_that_names_no_process_of_others_signals_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "app.pid"
    path.write_text(text)
    path.chmod(0o644)
    result = await reload_result(signal={"signal": "SIGHUP", "pidFile": str(path)})
    assert (result.outcome, result.message) == (
        Outcome.FAILED,
        f"{path} holds no number of a process to signal",
    )


async def test_a_pid_file_that_others_can_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "app.pid"
    path.write_text("4242")
    path.chmod(0o666)
    with pytest.raises(Refused, match="is writable by everybody"):
        await reload_result(signal={"signal": "SIGHUP", "pidFile": str(path)})


async def test_who_does_not_run_is_not_told(tmp_path: Path) -> None:
    absent = {"signal": signal.SIGHUP.name, "pidFile": str(tmp_path / "none")}
    assert (await reload_result(signal=absent)).outcome is Outcome.NOT_RUNNING
    nobody = {"signal": signal.SIGHUP.name, "process": str(tmp_path / "no-program")}
    assert (await reload_result(signal=nobody)).outcome is Outcome.NOT_RUNNING


async def test_who_may_run_unseen_is_not_taken_for_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ProtectProc=invisible of the shipped unit shows the processes of the daemon alone."""
    monkeypatch.setattr(finding, "_PROC", tmp_path)
    result = await reload_result(signal={"signal": "SIGHUP", "process": "/usr/sbin/haproxy"})
    assert result.outcome is Outcome.NOT_ASKED
    assert "/usr/sbin/haproxy is not among the processes that the daemon can see (name" in result.message


@pytest.fixture
def titled() -> Generator["Popen[bytes]", None, None]:
    """A process that calls itself a sentence, as nginx does."""
    title = "app: master process /opt/app/bin/app -g"
    with Popen([title, "60"], executable="/usr/bin/sleep") as running:
        yield running
        running.kill()


@pytest.mark.slow
async def test_a_process_of_another_user_is_found_by_what_it_calls_itself(
    titled: "Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: Path) -> Path:
        raise PermissionError(path)

    monkeypatch.setattr(Path, "readlink", denied)
    other = await reload_result(signal={"signal": "SIGHUP", "process": "/opt/app/bin/ap"})
    assert other.outcome is Outcome.NOT_RUNNING
    assert (
        await reload_result(signal={"signal": "SIGHUP", "process": "/opt/app/bin/app"})
    ).outcome is Outcome.DONE
    assert titled.wait() == -signal.SIGHUP


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program whose file is nobody else's."""
    path = tmp_path / "app"
    copyfile(which("sleep") or "", path)
    path.chmod(0o755)
    return path


def hung_up(running: "Popen[bytes]") -> bool:
    return running.wait(60) == -signal.SIGHUP


@pytest.mark.slow
def test_a_program_is_found_also_where_its_file_was_replaced(program: Path) -> None:
    by_program = {"signal": "SIGHUP", "process": str(program)}
    with Popen([program, "60"]) as running:
        program.unlink()
        assert (asyncio.run(reload_result(signal=by_program))).outcome is Outcome.DONE
        assert hung_up(running)
    assert (asyncio.run(reload_result(signal=by_program))).outcome is Outcome.NOT_RUNNING


@pytest.mark.slow
def test_the_topmost_process_of_a_program_is_told_and_of_several_none(program: Path) -> None:
    shell = program.with_name("shell")
    copyfile(which("dash") or "", shell)
    shell.chmod(0o755)
    script = f"trap 'kill $!; exit 3' HUP; {shell} -c 'trap \"\" TERM; echo; sleep 60 & wait' & wait"
    by_program = {"signal": "SIGHUP", "process": str(shell)}
    with Popen([shell, "-c", script], stdout=-1, start_new_session=True) as running:
        assert running.stdout is not None
        running.stdout.readline()
        with Popen([shell, "-c", "read x"], stdin=-1) as other:
            result = asyncio.run(reload_result(signal=by_program))
            assert (result.outcome, result.message) == (
                Outcome.FAILED,
                f"{shell} runs 2 times: use pidFile",
            )
            other.kill()
        try:
            assert (asyncio.run(reload_result(signal=by_program))).outcome is Outcome.DONE
            assert running.wait(60) == 3
        finally:
            os.killpg(running.pid, signal.SIGKILL)


async def test_a_container_is_told_by_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own cgroup cannot be chosen: what the kernel would say of two containers is written down."""
    ids = {10: "a" * 64, 11: "a" * 64, 12: "b" * 64, 1: "b" * 64}
    for pid, container in ids.items():
        entry = tmp_path / "proc" / str(pid)
        entry.mkdir(parents=True)
        (entry / "cgroup").write_text(f"0::/../cri-containerd-{container}.scope\n")
        (entry / "stat").write_text(f"{pid} (a) b) S {10 if pid == 11 else 1} 0\n")
    monkeypatch.setattr(finding, "_PROC", tmp_path / "proc")
    assert finding.process_of_container("a" * 64) == 10
    assert finding.process_of_container("b" * 64) == 12  # the first process is never found
    file = tmp_path / "id"
    file.write_text("c" * 64 + "\n")
    file.chmod(0o600)
    step = {"signal": "SIGHUP", "container": str(file)}
    assert (await reload_result(signal=step)).outcome is Outcome.NOT_RUNNING
    file.write_text("/")
    result = await reload_result(signal=step)
    assert (result.outcome, result.message) == (Outcome.FAILED, f"{file} holds no ID of a container")
