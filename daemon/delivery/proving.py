"""Checks a new set before it goes live, and proves that it is in use: by unit, program, request or TLS."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from syncret.config.durations import parse_duration
from syncret.config.resources.delivery.steps import DeliveryCheck, DeliveryHealth
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.delivery.commands import home_of, run_command
from syncret.daemon.delivery.local_requests import (
    RequestFailed,
    first_certificate,
    request,
    served_certificate,
)
from syncret.daemon.delivery.rights.accounts import other_user
from syncret.daemon.delivery.rights.mounted import wrapped
from syncret.daemon.delivery.trusted import check_trusted
from syncret.daemon.delivery.units import Action, ActionResult, Units, UnitState

EVERY: Final = 0.5
"""Seconds between two probes."""


async def check(
    step: DeliveryCheck,
    units: Units,
    *,
    views: Sequence[tuple[str, str]],
    variables: Mapping[str, str],
    values: tuple[bytes, ...],
) -> ActionResult:
    """Run the check of a new set. Raises Refused for a program that others can write.

    `views` are the paths of each target: where its new set is staged, and where it will be live.
    """
    timeout = parse_duration(step.timeout)
    if step.unit:
        return await units.start(step.unit, timeout=timeout)
    command = [_filled(each, [staged for staged, _ in views]) for each in step.exec or ()]
    check_trusted(command[0])
    uid = other_user(step.user)
    if step.view == "mounted" or uid is not None:
        command = wrapped(command, views=views if step.view == "mounted" else (), uid=uid)
    result = await run_command(
        command, timeout=timeout, variables={**home_of(uid), **variables}, values=values
    )
    if result.succeeded:
        return ActionResult(outcome=Outcome.DONE)
    problem = result.problem or f"exit code {result.code}" + (f": {result.output}" if result.output else "")
    return ActionResult(outcome=Outcome.FAILED, message=problem)


def _filled(argument: str, staged: Sequence[str]) -> str:
    for number, path in enumerate(staged, 1):
        argument = argument.replace(f"{{staged:{number}}}", path)
    return argument.replace("{staged}", staged[0])


class Prover:
    """Repeats the health step of a Delivery until it has succeeded for as long as it must."""

    def __init__(
        self,
        step: DeliveryHealth,
        units: Units,
        *,
        files: Mapping[str, bytes],
        variables: Mapping[str, str],
        reload: tuple[Action, UnitState | None] = ("reload", None),
    ) -> None:
        """`files` are those of the set; `reload` is the action on the unit, and its state before that."""
        self._step = step
        self._units = units
        self._files = files
        self._variables = variables
        self._reload = reload

    async def prove(self) -> ActionResult:
        """Probe twice a second, until it has succeeded for long enough or the time is over."""
        loop, step = asyncio.get_running_loop(), self._step
        end = loop.time() + parse_duration(step.within)
        stable, since, problem = parse_duration(step.stable_for), None, ""
        while True:
            problem = await self._problem(max(0.1, end - loop.time()))
            now = loop.time()
            if problem:
                since = None
            else:
                since = now if since is None else since
                if now - since >= stable:
                    return ActionResult(outcome=Outcome.DONE)
            if now >= end and since is None:
                return ActionResult(outcome=Outcome.FAILED, message=problem)
            await asyncio.sleep(EVERY)

    async def _problem(self, seconds: float) -> str:
        """Why one probe fails; empty if it succeeds."""
        try:
            async with asyncio.timeout(seconds):
                return await self._probe(seconds)
        except (RequestFailed, OSError) as error:
            return str(error) or type(error).__name__

    async def _probe(self, seconds: float) -> str:
        step = self._step
        if step.unit:
            return await self._unit_problem(step.unit)
        if step.http is not None:
            await request(step.http)
            return ""
        if step.tls is not None:
            wanted = first_certificate(self._files.get(step.tls.certificate, b""))
            is_it = await served_certificate(step.tls) == wanted
            return "" if is_it else f"{step.tls.address} serves another certificate than the new one"
        command = list(step.exec or ())
        check_trusted(command[0])
        values = tuple(self._files.values())
        result = await run_command(command, timeout=seconds, variables=self._variables, values=values)
        return "" if result.succeeded else result.problem or f"exit code {result.code}: {result.output}"

    async def _unit_problem(self, unit: str) -> str:
        action, before = self._reload
        state = await self._units.show(unit)
        if state is None:
            return "systemd does not answer"
        if state.is_healthy_after(before or state, action):
            return ""
        return f"{unit} is {state.active} ({state.sub}), its result is {state.result or 'unknown'}"
