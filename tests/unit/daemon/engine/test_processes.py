"""Worker processes: data in and out, a deadline, a limit of memory, and nothing left behind."""

import math
import operator
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from syncret.daemon.engine.processes import OutOfMemory, OutOfTime, WorkerError, WorkerProcesses

ENOUGH = 60.0


@pytest.fixture
def processes() -> Iterator[WorkerProcesses]:
    processes = WorkerProcesses(most=1)
    yield processes
    processes.close()


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_nothing_runs_before_the_first_call(processes: WorkerProcesses) -> None:
    assert len(processes) == 0
    assert processes.call(ENOUGH, math.factorial, 5) == 120
    assert len(processes) == 1


def test_one_process_answers_call_after_call(processes: WorkerProcesses) -> None:
    pid = processes.call(ENOUGH, os.getpid)
    assert pid not in {os.getpid(), 0}
    assert processes.call(ENOUGH, os.getpid) == pid
    assert processes.call(ENOUGH, operator.add, b"\xff\x00", b"a") == b"\xff\x00a"
    assert processes.call(ENOUGH, operator.add, [1.5, None], [True, {"k": "é"}]) == [
        1.5,
        None,
        True,
        {"k": "é"},
    ]


def test_what_takes_too_long_ends(processes: WorkerProcesses) -> None:
    pid = processes.call(ENOUGH, os.getpid)
    begin = time.monotonic()
    with pytest.raises(OutOfTime):
        processes.call(0.2, math.factorial, 10_000_000)
    assert time.monotonic() - begin < 20
    assert not is_running(pid)
    assert processes.call(ENOUGH, os.getpid) != pid


def test_a_call_starts_no_thread(processes: WorkerProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(threading.Thread, "start")
    assert processes.call(ENOUGH, operator.add, 1, 2) == 3


def test_large_arguments_and_results(processes: WorkerProcesses) -> None:
    large = os.urandom(5 * 2**20)
    assert processes.call(ENOUGH, operator.add, large, b"a") == large + b"a"


def test_a_process_that_reads_nothing_ends_by_its_deadline(processes: WorkerProcesses) -> None:
    pid = processes.call(ENOUGH, os.getpid)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(OutOfTime):
        processes.call(0.05, len, bytes(5 * 2**20))
    assert not is_running(pid)


def test_what_takes_too_much_memory_fails() -> None:
    processes = WorkerProcesses(memory=256 * 2**20)
    try:
        with pytest.raises(OutOfMemory):
            processes.call(ENOUGH, operator.mul, b"a", 300 * 2**20)
        assert processes.call(ENOUGH, operator.add, 1, 2) == 3
    finally:
        processes.close()


def test_a_process_that_the_kernel_ends_is_replaced(processes: WorkerProcesses) -> None:
    pid = processes.call(ENOUGH, os.getpid)
    with pytest.raises(OutOfMemory):
        processes.call(ENOUGH, signal.raise_signal, signal.SIGKILL.value)
    assert processes.call(ENOUGH, os.getpid) != pid


def test_an_exception_is_told_by_its_class_alone(processes: WorkerProcesses) -> None:
    with pytest.raises(RuntimeError, match="factorial failed in a worker process: ValueError"):
        processes.call(ENOUGH, math.factorial, -1)
    with pytest.raises(RuntimeError, match="TypeError"):
        processes.call(ENOUGH, operator.attrgetter, "a")  # its result is no plain data
    assert processes.call(ENOUGH, operator.add, 1, 2) == 3


def test_signals_to_the_daemon_do_not_end_it(processes: WorkerProcesses) -> None:
    pid = processes.call(ENOUGH, os.getpid)
    assert os.getpgid(pid) == pid
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(pid, number)
    assert processes.call(ENOUGH, os.getpid) == pid


def test_it_knows_nothing_of_the_daemon(processes: WorkerProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_TOKEN", "canary-3e1")
    pid = processes.call(ENOUGH, os.getpid)
    assert processes.call(ENOUGH, os.path.expandvars, "$VAULT_TOKEN") == "$VAULT_TOKEN"
    assert b"canary" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    [core] = [line for line in limits if line.startswith("Max core file size")]
    assert core.split()[4] == "0"


def test_idle_processes_can_be_ended(processes: WorkerProcesses) -> None:
    pid = processes.call(ENOUGH, os.getpid)
    processes.end_idle()
    assert len(processes) == 0
    assert not is_running(pid)
    assert processes.call(ENOUGH, os.getpid) != pid


def test_closing_ends_calls_too() -> None:
    processes = WorkerProcesses()
    pid = processes.call(ENOUGH, os.getpid)
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            processes.call(0, time.sleep, 3600)
        except WorkerError as error:
            failed.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while "busy=1" not in repr(processes):
        time.sleep(0.001)
    processes.close()
    waiting.join(20)
    assert not waiting.is_alive()
    assert [str(error) for error in failed] == ["the daemon is stopping"]
    assert not is_running(pid)
    with pytest.raises(WorkerError):
        processes.call(ENOUGH, os.getpid)


def test_there_are_no_more_than_allowed() -> None:
    processes = WorkerProcesses(most=2)
    pids: set[int] = set()
    threads = [threading.Thread(target=lambda: pids.add(processes.call(ENOUGH, os.getpid))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(pids) <= 2
    processes.close()
