"""Commands: real processes, which end in time, leave nobody behind and print no value."""

import asyncio
import json
import os
import pwd
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from syncret.daemon.delivery import commands
from syncret.daemon.delivery.commands import CommandResult, run_command

pytestmark = pytest.mark.slow  # each test starts processes

SHELL = "/bin/sh"
LONGEST = 30
REPORT = (
    "import json, os, resource, sys; print(json.dumps({'env': dict(os.environ), 'cwd': os.getcwd(), "
    "'umask': os.umask(0), 'core': resource.getrlimit(resource.RLIMIT_CORE), 'stdin': sys.stdin.read(), "
    "'leads': os.getsid(0) == os.getpid(), 'fds': sorted(os.listdir('/proc/self/fd'))}))"
)


async def run(*argv: str, seconds: float = 30, values: tuple[bytes, ...] = ()) -> CommandResult:
    return await run_command(argv, timeout=seconds, variables={"SYNCRET_PHASE": "Checking"}, values=values)


def ends(pid: int) -> bool:
    """Whether a process is gone, or dies now."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], LONGEST)[0])
    finally:
        os.close(fd)


async def test_the_exit_code_and_the_output_are_told() -> None:
    result = await run(SHELL, "-c", "echo out; echo err >&2; exit 3")
    assert (result.code, result.output, result.succeeded) == (3, "out\nerr", False)
    assert (await run("/bin/true")).succeeded
    assert (await run(SHELL, "-c", "kill -HUP $$")).code == -signal.SIGHUP


async def test_a_command_gets_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "/run/notify")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "/run/credentials")
    found = json.loads((await run(sys.executable, "-c", REPORT)).output)
    assert found.pop("fds") == ["0", "1", "2", "3"]
    assert found == {
        "env": {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HOME": pwd.getpwuid(os.geteuid()).pw_dir,
            "USER": pwd.getpwuid(os.geteuid()).pw_name,
            "SYNCRET_PHASE": "Checking",
        },
        "cwd": "/",
        "umask": 0o077,
        "core": [0, 0],
        "stdin": "",
        "leads": True,
    }


async def test_a_command_whose_daemon_is_gone_before_it_begins_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def of_another(prepare: Callable[[int], None], _parent: int) -> Callable[[], None]:
        return lambda: prepare(1)

    monkeypatch.setattr(commands, "partial", of_another)
    assert await run(SHELL, "-c", "echo out") == CommandResult(code=1, output="")


async def test_a_program_that_is_not_there_is_named() -> None:
    result = await run("/no/such/program")
    assert result == CommandResult(
        code=None, output="", problem="/no/such/program: No such file or directory"
    )


@pytest.mark.parametrize("trap", ["", "trap '' TERM;"], ids=["ends", "ignores SIGTERM"])
async def test_a_command_that_hangs_is_killed_with_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    monkeypatch.setattr(commands, "GRACE", 0.1)
    pids = tmp_path / "pids"
    script = f"{trap} sleep 1000 & echo $$ $! > {pids}; echo begun; wait; sleep 1000"
    result = await run(SHELL, "-c", script, seconds=0.2)
    assert (result.code, result.output, result.problem) == (None, "begun", "took longer than 0.2s")
    assert all(ends(int(pid)) for pid in pids.read_text().split())


async def test_what_a_command_leaves_running_is_killed_also_after_success(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    result = await run(SHELL, "-c", f"(trap '' TERM; sleep 1000) & echo $! > {pid}; exit 0")
    assert result.succeeded
    assert ends(int(pid.read_text()))


async def test_a_process_that_left_the_group_is_not_waited_for(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = (
        "import os, time\n"
        "if os.fork(): os._exit(0)\n"
        f"os.setsid(); open({str(pid)!r}, 'w').write(str(os.getpid())); print('begun', flush=True)\n"
        "time.sleep(1000)\n"
    )
    waits = f"while [ ! -s {pid} ]; do :; done"
    result = await run(SHELL, "-c", f'{sys.executable} -c "$0"; {waits}', script)
    try:
        assert result.succeeded
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)


async def test_a_flood_of_output_is_bounded_and_its_end_kept() -> None:
    result = await run(SHELL, "-c", "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo the end")
    assert result.succeeded
    assert len(result.output) < 5000
    assert result.output.endswith("the end")


async def test_no_value_is_told() -> None:
    result = await run(SHELL, "-c", "echo password swordfish is wrong", values=(b"swordfish",))
    assert result.output == "password [redacted] is wrong"


async def test_a_command_that_is_cancelled_is_killed(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    task = asyncio.create_task(run(SHELL, "-c", f"echo $$ > {fifo}; exec sleep 1000"))
    pid = int(await asyncio.to_thread(fifo.read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends(pid)
