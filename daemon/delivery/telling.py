"""Tells whoever uses the files that they are new: a unit, a process, a program, or a server on this host."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from syncret.config.durations import parse_duration
from syncret.config.resources.delivery.steps import DeliveryReload, DeliverySignal
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.delivery.commands import run_command
from syncret.daemon.delivery.local_requests import RequestFailed, request
from syncret.daemon.delivery.trusted import check_trusted, read_trusted
from syncret.daemon.delivery.units import Told, Units

_LONGEST_PID: Final = 32
_INIT: Final = 1


def key_of(reload: DeliveryReload | None) -> str:
    """Who is told, as a name that Deliveries with the same reload share; empty: nobody."""
    if reload is None:
        return ""
    if reload.unit:
        return reload.unit
    if reload.signal is not None:
        return reload.signal.pid_file or reload.signal.process
    if reload.http is not None:
        return reload.http.url
    return " ".join(reload.exec or ())


def action_of(reload: DeliveryReload) -> str:
    """What is done, as one word."""
    if reload.unit:
        return reload.action
    return "signal" if reload.signal is not None else "http" if reload.http is not None else "exec"


async def tell(
    reload: DeliveryReload,
    units: Units,
    *,
    variables: Mapping[str, str],
    values: tuple[bytes, ...],
    revive: bool = False,
) -> Told:
    """Ask for the reload, and wait until it is over. Raises Refused for a program that others can write.

    `revive`: a unit that failed is started again: it was the new set that it could not live with.
    """
    timeout = parse_duration(reload.timeout)
    if reload.unit:
        return await units.tell(reload.unit, reload.action, timeout=timeout, revive=revive)
    if reload.signal is not None:
        return await asyncio.to_thread(_signal, reload.signal)
    if reload.http is not None:
        try:
            async with asyncio.timeout(timeout):
                await request(reload.http)
        except (RequestFailed, OSError) as error:
            said = str(error) or "took too long"
            return Told(outcome=Outcome.FAILED, message=f"{reload.http.url}: {said}")
        return Told(outcome=Outcome.DONE)
    command = list(reload.exec or ())
    check_trusted(command[0])
    result = await run_command(command, timeout=timeout, variables=variables, values=values)
    if result.succeeded:
        return Told(outcome=Outcome.DONE)
    return Told(outcome=Outcome.FAILED, message=result.problem or f"exit code {result.code}: {result.output}")


def _signal(wanted: DeliverySignal) -> Told:
    number = signal.Signals[wanted.signal]
    pid = _of_file(wanted.pid_file) if wanted.pid_file else _of_program(wanted.process)
    if isinstance(pid, Told):
        return pid
    try:
        process = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(process, number)
        finally:
            os.close(process)
    except ProcessLookupError:
        return Told(outcome=Outcome.NOT_RUNNING, message=f"there is no process {pid}")
    except PermissionError:
        hint = "install deliver-as-root.conf as a drop-in of syncret.service"
        return Told(outcome=Outcome.NOT_ASKED, message=f"process {pid} belongs to another user ({hint})")
    return Told(outcome=Outcome.DONE)


def _of_file(path: str) -> int | Told:
    if not Path(path).exists():
        return Told(outcome=Outcome.NOT_RUNNING, message=f"there is no {path}")
    text = read_trusted(path, _LONGEST_PID + 1).strip()
    if not text.isdigit() or len(text) > _LONGEST_PID or int(text) in (0, _INIT, os.getpid()):
        return Told(outcome=Outcome.FAILED, message=f"{path} holds no number of a process to signal")
    return int(text)


def _of_program(program: str) -> int | Told:
    """The topmost process of the program: the one that its other processes come from."""
    found = {pid: parent for pid, parent in _processes(program) if pid not in (_INIT, os.getpid())}
    roots = [pid for pid, parent in found.items() if parent not in found]
    if not roots:
        return Told(outcome=Outcome.NOT_RUNNING, message=f"{program} is not running")
    if len(roots) > 1:
        return Told(outcome=Outcome.FAILED, message=f"{program} runs {len(roots)} times: use pidFile")
    return roots[0]


def _processes(program: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if _is_of(program, entry):
                found.append((int(entry.name), _parent_of(entry)))
        except OSError:  # it has ended meanwhile
            continue
    return found


def _is_of(program: str, entry: Path) -> bool:
    """Whether a process is of the program; one of another user by what it calls itself.

    That may be a sentence: `nginx: master process /usr/sbin/nginx -g daemon on;`.
    """
    try:
        return str((entry / "exe").readlink()) == program
    except PermissionError:
        called = os.fsdecode((entry / "cmdline").read_bytes().split(b"\0")[0])
        return called == program or program in called.split()


def _parent_of(entry: Path) -> int:
    return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
