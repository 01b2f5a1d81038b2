"""Carries out the reload step of a Delivery: by a unit, a signal, a program or a local HTTP request."""

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
from syncret.daemon.delivery.units import ActionResult, Units

_LONGEST_PID: Final = 32
_HOW_TO_SIGNAL: Final = "name its unit, or install deliver-as-root.conf as a drop-in of syncret.service"
_LONGEST_ID: Final = 128
_INIT: Final = 1


class _InvalidFile(Exception):
    """A pid file or container file does not name a process that can be signalled."""


def reload_key(reload: DeliveryReload | None) -> str:
    """What is reloaded, as a name that Deliveries with the same reload share; empty without a reload."""
    if reload is None:
        return ""
    if reload.unit:
        return reload.unit
    if reload.signal is not None:
        return _name_of(reload.signal)
    if reload.http is not None:
        return reload.http.url
    return " ".join(reload.exec or ())


def reload_action(reload: DeliveryReload) -> str:
    """The kind of reload as one word, for metrics."""
    if reload.unit:
        return reload.action
    return "signal" if reload.signal is not None else "http" if reload.http is not None else "exec"


async def request_reload(
    reload: DeliveryReload,
    units: Units,
    *,
    variables: Mapping[str, str],
    values: tuple[bytes, ...],
    revive: bool = False,
) -> ActionResult:
    """Ask for the reload, and wait until it is over. Raises Refused for a program that others can write.

    `revive`: start a unit that has failed, as the new set may have made it fail.
    """
    timeout = parse_duration(reload.timeout)
    if reload.unit:
        return await units.reload(reload.unit, reload.action, timeout=timeout, revive=revive)
    if reload.signal is not None:
        return await asyncio.to_thread(_send_signal, reload.signal)
    if reload.http is not None:
        try:
            async with asyncio.timeout(timeout):
                await request(reload.http)
        except (RequestFailed, OSError) as error:
            problem = str(error) or "took too long"
            return ActionResult(outcome=Outcome.FAILED, message=f"{reload.http.url}: {problem}")
        return ActionResult(outcome=Outcome.DONE)
    command = list(reload.exec or ())
    check_trusted(command[0])
    result = await run_command(command, timeout=timeout, variables=variables, values=values)
    if result.succeeded:
        return ActionResult(outcome=Outcome.DONE)
    return ActionResult(
        outcome=Outcome.FAILED, message=result.problem or f"exit code {result.code}: {result.output}"
    )


def _send_signal(wanted: DeliverySignal) -> ActionResult:
    try:
        signal_process(lambda: _process_of(wanted), signal.Signals[wanted.signal])
    except NoSuchProcess as error:
        return ActionResult(outcome=Outcome.NOT_RUNNING, message=str(error))
    except (Ambiguous, _InvalidFile) as error:
        return ActionResult(outcome=Outcome.FAILED, message=str(error))
    except Hidden as error:
        return ActionResult(outcome=Outcome.NOT_ASKED, message=f"{error} ({_HOW_TO_SIGNAL})")
    except PermissionError:
        message = f"{_name_of(wanted)} runs as another user ({_HOW_TO_SIGNAL})"
        return ActionResult(outcome=Outcome.NOT_ASKED, message=message)
    return ActionResult(outcome=Outcome.DONE)


def _process_of(wanted: DeliverySignal) -> int:
    if wanted.process:
        return process_of_program(wanted.process)
    path = _name_of(wanted)
    if not Path(path).exists():
        raise NoSuchProcess(f"there is no {path}")
    text = os.fsdecode(read_trusted(path, _LONGEST_ID + 1)).strip()
    if wanted.container:
        if not is_container(text):
            raise _InvalidFile(f"{path} holds no ID of a container")
        return process_of_container(text)
    if not text.isdecimal() or len(text) > _LONGEST_PID or int(text) in (0, _INIT, os.getpid()):
        raise _InvalidFile(f"{path} holds no number of a process to signal")
    return int(text)


def _name_of(wanted: DeliverySignal) -> str:
    return wanted.pid_file or wanted.process or wanted.container
