"""Units, asked by a systemctl that answers as the real one was seen to."""

import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.core.delivery.timing import StartLimit
from syncret.daemon.delivery.commands import CommandResult
from syncret.daemon.delivery.rights import helper
from syncret.daemon.delivery.units import Action, SystemctlUnits, UnitState, seconds

pytestmark = pytest.mark.slow  # each test starts processes

SHOWN = """\
LoadState=loaded
ActiveState=active
SubState=running
Job=0
Result=success
ReloadResult=success
InvocationID=0123abcd
NRestarts=2
StartLimitIntervalUSec=10s
StartLimitBurst=5
"""
STATE = UnitState(
    load="loaded",
    active="active",
    sub="running",
    job="0",
    result="success",
    reload_result="success",
    invocation="0123abcd",
    restarts=2,
    start_limit=StartLimit(10, 5),
)


class Systemctl:
    """A program that answers `show` with a text and every other verb with a message and an exit code."""

    def __init__(self, folder: Path) -> None:
        self._program = folder / "systemctl"
        self._calls = folder / "calls"
        self._calls.touch()
        self._first = folder / "first"
        self.answers(SHOWN)

    def answers(self, shown: str, message: str = "", code: int = 0, *, show_code: int = 0) -> None:
        """What it does from now on."""
        self._program.write_text(
            "#!/bin/sh\n"
            f'echo "$@" >> {self._calls}\n'
            'case "$3" in\n'
            f"show) if [ -e {self._first} ]; then cat {self._first}; rm {self._first}; exit 0; fi\n"
            f"printf %s {shlex.quote(shown)}; exit {show_code};;\n"
            f"*) printf %s {shlex.quote(message)} >&2; exit {code};;\n"
            "esac\n"
        )
        self._program.chmod(0o755)

    def answers_first(self, shown: str) -> None:
        """What `show` says once."""
        self._first.write_text(shown)

    @property
    def units(self) -> SystemctlUnits:
        """Units that are asked by it."""
        return SystemctlUnits(str(self._program))

    @property
    def calls(self) -> list[str]:
        """The verbs, each with its unit."""
        lines = [line.split() for line in self._calls.read_text().splitlines()]
        assert all(line[:2] == ["--no-ask-password", "--no-pager"] for line in lines)
        return [f"{line[2]} {line[-1]}" for line in lines]

    @property
    def asked(self) -> list[str]:
        """The verbs but `show`."""
        return [call for call in self.calls if not call.startswith("show ")]


@pytest.fixture
def systemctl(tmp_path: Path) -> Systemctl:
    return Systemctl(tmp_path)


async def test_a_unit_is_read(systemctl: Systemctl) -> None:
    assert await systemctl.units.show("app.service") == STATE
    assert (STATE.is_there, STATE.runs, STATE.is_busy) == (True, True, False)


@pytest.mark.parametrize(
    ("action", "verb"),
    [("reload", "reload"), ("restart", "try-restart"), ("reload-or-restart", "try-reload-or-restart")],
)
async def test_no_action_starts_a_unit(systemctl: Systemctl, action: Action, verb: str) -> None:
    result = await systemctl.units.reload("app.service", action, timeout=30)
    assert result.outcome is Outcome.DONE
    assert systemctl.asked == [f"{verb} app.service"]


@pytest.mark.parametrize(
    ("shown", "outcome", "message"),
    [
        pytest.param("LoadState=not-found\n", Outcome.NOT_THERE, "app.service is not-found", id="unknown"),
        pytest.param("LoadState=masked\n", Outcome.NOT_THERE, "app.service is masked", id="masked"),
        pytest.param(
            "LoadState=loaded\nActiveState=inactive\n",
            Outcome.NOT_RUNNING,
            "app.service is inactive",
            id="stopped",
        ),
        pytest.param(
            "LoadState=loaded\nActiveState=failed\n",
            Outcome.NOT_RUNNING,
            "app.service is failed",
            id="failed",
        ),
        pytest.param(
            "LoadState=loaded\nActiveState=inactive\nJob=7\n",
            Outcome.NOT_RUNNING,
            "app.service is inactive",
            id="a start that waits",
        ),
        pytest.param(
            SHOWN.replace("Job=0", "Job=7"),
            Outcome.NOT_ASKED,
            "app.service has a job that another process requested",
            id="a job without an end",
        ),
    ],
)
async def test_a_unit_that_does_not_run_is_not_told(
    systemctl: Systemctl, shown: str, outcome: Outcome, message: str
) -> None:
    systemctl.answers(shown)
    result = await systemctl.units.reload("app.service", "reload", timeout=0)
    assert (result.outcome, result.message) == (outcome, message)
    assert systemctl.asked == []


@pytest.mark.parametrize(
    ("said", "outcome", "message"),
    [
        pytest.param(
            "Job for app.service failed.", Outcome.FAILED, "Job for app.service failed.", id="it failed"
        ),
        pytest.param(
            "Failed to reload app.service: Interactive authentication required.",
            Outcome.NOT_ASKED,
            "not allowed to manage app.service (syncret export polkit prints the rule that allows it)",
            id="no rule of polkit",
        ),
        pytest.param(
            "Failed to connect to bus: No such file or directory",
            Outcome.NOT_ASKED,
            "systemd does not answer",
            id="systemd is away",
        ),
        pytest.param(
            "Failed to reload app.service: Unit polkit.service is masked.\nSee system logs for details.",
            Outcome.NOT_ASKED,
            "Failed to reload app.service: Unit polkit.service is masked.",
            id="polkit is away",
        ),
    ],
)
async def test_a_request_that_is_not_met_says_why(
    systemctl: Systemctl, said: str, outcome: Outcome, message: str
) -> None:
    systemctl.answers(SHOWN, said, 1)
    result = await systemctl.units.reload("app.service", "reload", timeout=30)
    assert (result.outcome, result.message) == (outcome, message)


@pytest.mark.parametrize(
    ("action", "does", "asked"),
    [
        pytest.param("reload", "VERB=reload", True, id="reload"),
        pytest.param("restart", "VERB=restart", True, id="restart"),
        pytest.param("restart", "VERB=reload", False, id="the helper does something else"),
        pytest.param("reload", "", False, id="there is no helper"),
    ],
)
async def test_where_it_is_not_allowed_the_helper_of_the_unit_is_asked(
    systemctl: Systemctl, monkeypatch: pytest.MonkeyPatch, action: Action, does: str, *, asked: bool
) -> None:
    seen: list[str] = []

    async def ask(unit: str, _seconds: float) -> CommandResult:
        seen.append(unit)
        return CommandResult(code=0, output="")

    monkeypatch.setattr(helper, "ask", ask)
    systemctl.answers(f"{SHOWN}{does}\n" if does else SHOWN, "Interactive authentication required.", 1)
    result = await systemctl.units.reload("app.service", action, timeout=30)
    assert result.outcome is (Outcome.DONE if asked else Outcome.NOT_ASKED)
    assert seen == ["app.service"] * asked
    assert "show syncret-reload@app.service.path" in systemctl.calls


async def test_a_reload_of_somebody_else_is_waited_for_and_never_joined(systemctl: Systemctl) -> None:
    systemctl.answers_first(SHOWN.replace("Job=0", "Job=7").replace("=active", "=reloading"))
    result = await systemctl.units.reload("app.service", "reload", timeout=30)
    assert result.outcome is Outcome.DONE
    assert systemctl.calls == ["show app.service", "show app.service", "reload app.service"]


async def test_where_systemd_does_not_answer_nothing_is_asked(systemctl: Systemctl) -> None:
    systemctl.answers("", show_code=1)
    assert await systemctl.units.show("app.service") is None
    assert (await systemctl.units.reload("app.service", "reload", timeout=30)).outcome is Outcome.NOT_ASKED
    assert systemctl.asked == []


async def test_a_check_unit_is_started(systemctl: Systemctl) -> None:
    systemctl.answers(SHOWN, "Job for check.service failed", 1)
    result = await systemctl.units.start("check.service", timeout=30)
    assert (result.outcome, result.message) == (Outcome.FAILED, "Job for check.service failed")
    assert systemctl.asked == ["start check.service"]


@pytest.mark.parametrize(
    ("state", "busy"),
    [
        pytest.param(replace(STATE, job="4711"), True, id="a job"),
        pytest.param(replace(STATE, active="reloading"), True, id="reloading"),
        pytest.param(replace(STATE, active="activating"), True, id="starting"),
        pytest.param(replace(STATE, job=""), False, id="none"),
    ],
)
def test_a_unit_with_a_job_is_waited_for(state: UnitState, *, busy: bool) -> None:
    assert state.is_busy is busy


@pytest.mark.parametrize(
    ("after", "action", "healthy"),
    [
        pytest.param(STATE, "reload", True, id="reloaded"),
        pytest.param(replace(STATE, invocation="new"), "reload", False, id="died at the reload"),
        pytest.param(replace(STATE, invocation="new"), "restart", True, id="restarted"),
        pytest.param(STATE, "restart", False, id="not restarted"),
        pytest.param(replace(STATE, restarts=3, invocation="new"), "restart", False, id="restarts by itself"),
        pytest.param(replace(STATE, reload_result="timeout"), "reload", False, id="reload failed"),
        pytest.param(replace(STATE, active="failed"), "reload", False, id="failed"),
        pytest.param(replace(STATE, sub="auto-restart"), "reload", False, id="between two lives"),
    ],
)
def test_what_healthy_means(after: UnitState, action: Action, *, healthy: bool) -> None:
    assert after.is_healthy_after(STATE, action) is healthy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10s", 10),
        ("1min 30s", 90),
        ("500ms", 0.5),
        ("1d 2h", 93600),
        ("0", 0),
        ("infinity", float("inf")),
        ("", 0),
        ("soon", 0),
    ],
)
def test_spans_are_read(text: str, expected: float) -> None:
    assert seconds(text) == expected
