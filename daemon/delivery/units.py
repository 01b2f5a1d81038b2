"""Reloads, restarts and starts units of systemd, and shows their state, by the program `systemctl`.

systemd merges a reload into one that is running already, which may have read the old files. So nothing is
requested while the unit has a job.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct

from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.core.delivery.recovery import UnitFacts
from syncret.daemon.core.delivery.timing import StartLimit
from syncret.daemon.delivery.commands import CommandResult, run_command
from syncret.daemon.delivery.rights import helper

Action: TypeAlias = Literal["reload", "restart", "reload-or-restart"]

SYSTEMCTL: Final = "/usr/bin/systemctl"
_VERBS: Final[Mapping[Action, str]] = {
    "reload": "reload",
    "restart": "try-restart",
    "reload-or-restart": "try-reload-or-restart",
}
"""None of them starts a unit that does not run."""

_PROPERTIES: Final = (
    *("LoadState", "ActiveState", "SubState", "Job", "Result", "ReloadResult"),
    *("InvocationID", "NRestarts", "StartLimitIntervalUSec", "StartLimitBurst"),
    "ActiveEnterTimestampMonotonic",
)
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_SHOW_TIMEOUT: Final = 5.0

_RUNNING: Final = frozenset({"active", "reloading"})
_CHANGING: Final = frozenset({"activating", "deactivating", "reloading"})
_STOPPED: Final = frozenset({"inactive", "failed", ""})
_POLL_INTERVAL: Final = 0.1
"""Seconds between two calls of `show` for a unit with a job; systemd announces its end over D-Bus alone."""

_UNUSABLE: Final = frozenset({"not-found", "masked", "bad-setting", "error"})
_DENIED: Final = ("authentication required", "Access denied", "Permission denied")
_HOW_TO_ALLOW: Final = "syncret export polkit prints the rule that allows it"
_REFUSED: Final = re.compile(r"^Failed to \S+ \S+: .*", re.MULTILINE)
"""What systemctl prints if systemd did not accept the request; if a job fails, it prints `Job for ...`."""
_NO_SYSTEMD: Final = ("Failed to connect to bus", "not been booted with systemd", "Transport endpoint")
_SCALES: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


class UnitState(Struct, frozen=True, kw_only=True):
    """The properties of a unit that `systemctl show` prints."""

    load: str = ""
    active: str = ""
    sub: str = ""
    job: str = ""
    result: str = ""
    reload_result: str = ""
    invocation: str = ""
    started: float = 0.0
    """When it became active, in seconds of the monotonic clock."""
    restarts: int = 0
    start_limit: StartLimit = StartLimit(0, 0)

    def facts(self) -> UnitFacts:
        """What recovery needs to know of it."""
        return UnitFacts(invocation=self.invocation, started=self.started, runs=self.active != "failed")

    @property
    def is_there(self) -> bool:
        """Whether there is such a unit, and it may be used."""
        return self.load not in _UNUSABLE

    @property
    def runs(self) -> bool:
        """Whether it runs, so that it can be reloaded."""
        return self.active in _RUNNING

    @property
    def is_busy(self) -> bool:
        """Whether a job that another process requested is under way: wait for its end."""
        return self.job not in ("", "0") or self.active in _CHANGING

    def is_healthy_after(self, before: "UnitState", action: Action) -> bool:
        """Whether it runs as before the action: once restarted if that was asked for, and never by itself."""
        restarted = self.invocation != before.invocation
        return (
            self.active == "active"
            and self.sub in ("running", "exited")
            and self.result == "success"
            and self.reload_result in ("", "success")
            and self.restarts == before.restarts
            and (action == "reload-or-restart" or restarted == (action == "restart"))
        )


class ActionResult(Struct, frozen=True, kw_only=True):
    """How a check, a reload or a proof ended."""

    outcome: Outcome
    message: str = ""


class Units(Protocol):
    """The requests that a delivery makes to systemd."""

    async def show(self, unit: str) -> UnitState | None:
        """The state of a unit; None if systemd does not answer."""
        ...

    async def reload(
        self,
        unit: str,
        action: Action,
        *,
        timeout: float,  # noqa: ASYNC109  # of systemctl
        revive: bool = False,
    ) -> ActionResult:
        """Reload or restart a unit that runs, once no other job of it is under way, and wait for the end.

        `revive`: start it if it has failed.
        """
        ...

    async def start(self, unit: str, *, timeout: float) -> ActionResult:  # noqa: ASYNC109  # as above
        """Start a oneshot unit, and wait for its end."""
        ...


class SystemctlUnits:
    """Units by the program `systemctl`, which asks for no password. Implements Units."""

    def __init__(self, program: str = SYSTEMCTL) -> None:
        self._program = program

    async def show(self, unit: str) -> UnitState | None:
        """As the protocol says."""
        names = [f"--property={name}" for name in _PROPERTIES]
        result = await self._run(["show", *names, "--", unit], _SHOW_TIMEOUT)
        if not result.succeeded:
            return None
        lines = (line.partition("=") for line in result.output.splitlines())
        return _state({name: value for name, _, value in lines})

    async def reload(
        self,
        unit: str,
        action: Action,
        *,
        timeout: float,  # noqa: ASYNC109  # as the protocol
        revive: bool = False,
    ) -> ActionResult:
        """As the protocol says."""
        state = await self._idle(unit, timeout)
        if state is not None and state.is_busy and state.active not in _STOPPED:
            return ActionResult(
                outcome=Outcome.NOT_ASKED, message=f"{unit} has a job that another process requested"
            )
        if state is None:
            return ActionResult(outcome=Outcome.NOT_ASKED, message="systemd does not answer")
        if not state.is_there:
            return ActionResult(outcome=Outcome.NOT_THERE, message=f"{unit} is {state.load}")
        if revive and state.active == "failed":
            return await self._request("restart", unit, timeout)
        if not state.runs:
            return ActionResult(outcome=Outcome.NOT_RUNNING, message=f"{unit} is {state.active}")
        return await self._request(_VERBS[action], unit, timeout)

    async def _idle(self, unit: str, seconds: float) -> UnitState | None:
        """The state once no other job is under way, or after `seconds` as it is then.

        A unit that is not active and has a start job is not waited for: it reads the files when it starts.
        """
        end = asyncio.get_running_loop().time() + seconds
        state = await self.show(unit)
        while (
            state is not None
            and state.is_busy
            and state.active not in _STOPPED
            and asyncio.get_running_loop().time() < end
        ):
            await asyncio.sleep(_POLL_INTERVAL)
            state = await self.show(unit)
        return state

    async def start(self, unit: str, *, timeout: float) -> ActionResult:  # noqa: ASYNC109
        """As the protocol says."""
        return await self._request("start", unit, timeout)

    async def _request(self, verb: str, unit: str, seconds: float) -> ActionResult:
        """Run systemctl; where that is denied, use the helper of the unit, if an administrator enabled it."""
        result = await self._run([verb, "--", unit], seconds)
        if _is_denied(result) and await self._has_helper(verb, unit):
            result = await helper.ask(unit, seconds)
        return _action_result(unit, result)

    async def _has_helper(self, verb: str, unit: str) -> bool:
        """Whether a helper waits for requests that carries out this verb."""
        name = helper.instance(unit)
        waiting = await self.show(f"{name}.path")
        if waiting is None or waiting.active != "active":
            return False
        shown = ["show", "--value", "--property=Environment", "--", f"{name}.service"]
        does = (await self._run(shown, _SHOW_TIMEOUT)).output.strip().rpartition("VERB=")[2]
        return verb == does or (verb == "try-restart" and does == "restart")

    async def _run(self, arguments: Sequence[str], seconds: float) -> CommandResult:
        argv = [self._program, "--no-ask-password", "--no-pager", *arguments]
        return await run_command(argv, timeout=seconds, variables={"SYSTEMD_COLORS": "0"}, values=())


def _is_denied(result: CommandResult) -> bool:
    return not result.succeeded and any(each in result.output for each in _DENIED)


def _action_result(unit: str, result: CommandResult) -> ActionResult:
    if result.succeeded:
        return ActionResult(outcome=Outcome.DONE)
    if _is_denied(result):
        return ActionResult(
            outcome=Outcome.NOT_ASKED, message=f"not allowed to manage {unit} ({_HOW_TO_ALLOW})"
        )
    if any(each in result.output for each in _NO_SYSTEMD) or (result.code is None and not result.output):
        return ActionResult(outcome=Outcome.NOT_ASKED, message=result.problem or "systemd does not answer")
    refused = _REFUSED.search(result.output)
    if refused is not None:
        return ActionResult(outcome=Outcome.NOT_ASKED, message=refused[0])
    return ActionResult(outcome=Outcome.FAILED, message=result.problem or result.output)


def _state(properties: Mapping[str, str]) -> UnitState:
    restarts, burst = properties.get("NRestarts", ""), properties.get("StartLimitBurst", "")
    started = properties.get("ActiveEnterTimestampMonotonic", "")
    return UnitState(
        load=properties.get("LoadState", ""),
        active=properties.get("ActiveState", ""),
        sub=properties.get("SubState", ""),
        job=properties.get("Job", ""),
        result=properties.get("Result", ""),
        reload_result=properties.get("ReloadResult", ""),
        invocation=properties.get("InvocationID", ""),
        started=int(started) / 1e6 if started.isdecimal() else 0.0,
        restarts=int(restarts) if restarts.isdecimal() else 0,
        start_limit=StartLimit(
            seconds(properties.get("StartLimitIntervalUSec", "")), int(burst) if burst.isdecimal() else 0
        ),
    )


def seconds(text: str) -> float:
    """The seconds of a time span as systemd prints it: `1min 30s`, `10s`, `infinity`; 0 if not valid."""
    total = 0.0
    for part in text.split():
        number = part.rstrip("abcdefghijklmnopqrstuvwxyz")
        if part == "infinity":
            return float("inf")
        if part[len(number) :] not in _SCALES or not number.replace(".", "", 1).isdecimal():
            return 0.0
        total += float(number) * _SCALES[part[len(number) :]]
    return total


def boot_id() -> str:
    """The ID of this boot; empty where it is hidden, as by ProcSubset=pid in the shipped unit."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""
