"""The table of `simulate`: step by step what was read and written, and what became of each object."""

import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from syncret.config.meta import Document, ObjectRef, member, ref_of
from syncret.config.resources.kinds import is_shown
from syncret.config.visible import printable
from syncret.daemon.cli.columns import VERDICTS, Column, Row, print_table
from syncret.daemon.cli.terminal import Style, print_text

COLUMNS: Final = (
    Column("STEP"),
    Column("TIME"),
    Column("READY", is_verdict=True),
    Column("EVENT"),
    Column("OBJECT", "flexible", "middle"),
    Column("STATUS", "message"),
)
DONE: Final = {"create": "created", "update": "updated", "delete": "deleted"}


class Event(NamedTuple):
    """One thing that happened in a step; with a verdict, if a condition changed."""

    name: str
    object: str
    status: str = ""
    ready: str = ""
    style: str = Style.PLAIN
    is_usual: bool = False


class Verdict(NamedTuple):
    """What an object's condition Ready says."""

    ready: bool | None
    reason: str
    message: str


def print_simulation(result: Document) -> None:
    """Print one result on stdout."""
    steps: list[Document] = result["steps"]
    name = result["metadata"]["name"] or "scenario"
    print_text(sys.stdout, printable(f"{name}: {len(steps)} step{'' if len(steps) == 1 else 's'}"))
    sys.stdout.write("\n")
    print_table(COLUMNS, _rows(steps))


def _rows(steps: Iterable[Document]) -> Iterator[Row]:
    before: dict[ObjectRef, Verdict] = {}
    for number, step in enumerate(steps, 1):
        verdicts = dict(_verdicts(step["objects"]))
        news = [_condition(ref, verdict) for ref, verdict in verdicts.items() if before.get(ref) != verdict]
        before = verdicts
        head = (str(number), step["now"])
        events = chain(_actions(step), sorted(news, key=lambda event: event.is_usual))
        for event in list(events) or [Event("nothing", "")]:
            cells = (*head, event.ready, event.name, event.object, event.status)
            yield Row(cells, event.style, is_usual=event.is_usual)
            head = ("", "")


def _actions(step: Document) -> Iterator[Event]:
    """What was refused, read, written, pushed and removed, in this order."""
    for refused in step["rejected"]:
        problems = [problem for problem in refused["problems"] if problem["severity"] == "error"]
        yield Event(
            "refused",
            _name(refused["object"]),
            "; ".join(map(_problem, problems)),
            style=Style.BAD,
            ready="NO",
        )
    reads: int = step["reads"]
    if reads:
        yield Event("read", "once" if reads == 1 else f"{reads} times")
    for change in step["changes"]:
        yield Event(DONE[change["action"]], _name(change))
    for event, done in (("pushed", "writes"), ("removed", "deletes")):
        for push in step[done]:
            key = "/".join(filter(None, (push["remoteKey"], push["property"])))
            yield Event(event, f"{key} in {push['store']}")


def _name(named: Document) -> str:
    return "/".join(filter(None, (named["kind"], named["namespace"], named["name"])))


def _problem(problem: Document) -> str:
    path = f"{problem['path']}: " if problem["path"] else ""
    hint = f" ({problem['hint']})" if problem.get("hint") else ""
    return f"{path}{problem['message']}{hint}"


def _verdicts(objects: Iterable[Document]) -> Iterator[tuple[ObjectRef, Verdict]]:
    for document in objects:
        ref = ref_of(document)
        conditions: list[Document] = member(document, "status").get("conditions", [])
        ready = next((each for each in conditions if each.get("type") == "Ready"), None)
        if ready is not None and is_shown(ref.group_kind):
            verdict = {"True": True, "False": False}.get(ready.get("status", ""))
            yield ref, Verdict(verdict, ready.get("reason", ""), ready.get("message", ""))


def _condition(ref: ObjectRef, verdict: Verdict) -> Event:
    shown = VERDICTS[verdict.ready]
    return Event(
        verdict.reason or "condition",
        str(ref),
        verdict.message,
        ready=shown.text,
        style=shown.style,
        is_usual=bool(verdict.ready),
    )
