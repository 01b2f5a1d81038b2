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
from syncret.daemon.delivery.processes.finding import (
    Ambiguous,
    Hidden,
    NoSuchProcess,
    is_container,
    process_of_container,
    process_of_program,
    signal_process,
)
from syncret.daemon.delivery.trusted import check_trusted, read_trusted
from syncret.daemon.delivery.units import Told, Units

_LONGEST_PID: Final = 32
_TO_SIGNAL: Final = "name its unit, or install deliver-as-root.conf as a drop-in of syncret.service"
_LONGEST_ID: Final = 128
_INIT: Final = 1


class _Unfit(Exception):
    """A file names nothing that can be signalled."""


def key_of(reload: DeliveryReload | None) -> str:
    """Who is told, as a name that Deliveries with the same reload share; empty: nobody."""
    if reload is None:
        return ""
    if reload.unit:
        return reload.unit
    if reload.signal is not None:
        return _name_of(reload.signal)
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
    try:
        signal_process(lambda: _process_of(wanted), signal.Signals[wanted.signal])
    except NoSuchProcess as error:
        return Told(outcome=Outcome.NOT_RUNNING, message=str(error))
    except (Ambiguous, _Unfit) as error:
        return Told(outcome=Outcome.FAILED, message=str(error))
    except Hidden as error:
        return Told(outcome=Outcome.NOT_ASKED, message=f"{error} ({_TO_SIGNAL})")
    except PermissionError:
        said = f"{_name_of(wanted)} runs as another user ({_TO_SIGNAL})"
        return Told(outcome=Outcome.NOT_ASKED, message=said)
    return Told(outcome=Outcome.DONE)


def _process_of(wanted: DeliverySignal) -> int:
    if wanted.process:
        return process_of_program(wanted.process)
    path = _name_of(wanted)
    if not Path(path).exists():
        raise NoSuchProcess(f"there is no {path}")
    text = os.fsdecode(read_trusted(path, _LONGEST_ID + 1)).strip()
    if wanted.container:
        if not is_container(text):
            raise _Unfit(f"{path} holds no ID of a container")
        return process_of_container(text)
    if not text.isdecimal() or len(text) > _LONGEST_PID or int(text) in (0, _INIT, os.getpid()):
        raise _Unfit(f"{path} holds no number of a process to signal")
    return int(text)


def _name_of(wanted: DeliverySignal) -> str:
    return wanted.pid_file or wanted.process or wanted.container
