"""Deliveries as operators see them: which set is live, since when, and how its reload went."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from syncret.config.settings import Settings
from syncret.daemon.cli.commands import status as command
from syncret.daemon.cli.daemon_client import Answer
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.engine.clock import Clock
from syncret.daemon.ops import status
from syncret.daemon.ops.control import explanation
from syncret.daemon.ops.metrics import Metrics
from syncret.daemon.ops.view import View
from tests.unit.daemon.delivery.world import World, delivery, secret
from tests.unit.daemon.ops.objects import CANARY


async def row_of(world: World) -> dict[str, Any]:
    """The row of the document, of the only Delivery."""
    clock = Clock()
    view = View(running=world.engine, metrics=Metrics(clock.now), clock=clock, settings=Settings())
    document = json.loads(b"".join([piece async for piece in status.pieces(view)]))
    [row] = [each for each in document["objects"] if each["kind"] == "Delivery"]
    found: dict[str, Any] = row
    return found


def shown(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The line that `syncret status` prints of it."""
    queue = {"ready": 0, "running": 0, "scheduled": 0}
    answer: Answer = {
        "version": "1",
        "uptimeSeconds": 1,
        "ready": True,
        "failing": 0,
        "queue": queue,
        "problems": [],
        "stores": [],
        "objects": [row],
        "releases": [],
    }

    def request(*_: object) -> Answer:
        return answer

    monkeypatch.setattr(command, "request", request)
    command.run(parser().parse_args(["status"]))
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Delivery")]
    return line


async def test_a_row_says_what_is_live_and_how_the_reload_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(tmp_path)
    to = [{"directory": {"path": str(world.srv / "tls")}}]
    world.write(secret(crt="1"), delivery(to=to, reload={"unit": "nginx.service"}))
    async with world.running():
        row = await row_of(world)
        line = shown(row, monkeypatch, capsys)
        assert row["delivery"].items() >= {"generation": 1, "reload": "nginx.service reload"}.items()
        assert re.search(r"Delivered  gen 1  \d+s ago  nginx.service reload ok \S+$", line)
        world.units.outcome = lambda: Outcome.FAILED if world.files()["crt"] == "2" else Outcome.DONE
        await world.apply(secret(crt="2"))
        line = shown(await row_of(world), monkeypatch, capsys)
        assert "set 2 failed, and the one before is live again: nginx.service did not" in line


async def test_explain_says_where_files_come_from_and_what_happened_without_values(tmp_path: Path) -> None:
    world = World(tmp_path)
    program = f"echo it says {CANARY}; exit 1"
    check = {"exec": ["/usr/bin/dash", "-c", program]}
    to = [{"directory": {"path": str(world.srv / "tls")}}]
    world.write(secret(crt=CANARY), delivery(to=to, check=check))
    async with world.running():
        clock = Clock()
        view = View(running=world.engine, metrics=Metrics(clock.now), clock=clock, settings=Settings())
        told = explanation(view, "Delivery", "default", "web")
    notes = "\n".join(told.notes)
    assert "crt is crt of Secret/tls" in notes
    assert re.search(r"\dZ check: failed after \S+: exit code 1: it says \[redacted\]", notes)
    assert re.search(r"\dZ a set was rejected: CheckFailed", notes)
    assert CANARY not in str(told)


@pytest.mark.parametrize(
    ("reload", "told"),
    [
        pytest.param(
            {"signal": {"signal": "SIGHUP", "pidFile": "/run/a.pid"}}, "/run/a.pid SIGHUP", id="signal"
        ),
        pytest.param({"exec": ["/bin/true", "-x"]}, "/bin/true exec", id="exec"),
        pytest.param(
            {"http": {"url": "http://127.0.0.1:1/-/reload"}}, "http://127.0.0.1:1/-/reload POST", id="http"
        ),
    ],
)
async def test_what_is_done_to_tell_is_named(tmp_path: Path, reload: dict[str, Any], told: str) -> None:
    world = World(tmp_path)
    to = [{"directory": {"path": str(world.srv / "tls")}}]
    world.write(secret(crt="1"), delivery(to=to, reload=reload))
    async with world.running():
        assert (await row_of(world))["delivery"]["reload"] == told
