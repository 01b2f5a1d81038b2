"""`syncret explain`: where each key of an object comes from, how old it is, and what happens next.

With `--kubernetes` the API server is asked instead of a daemon. With `--field` it explains a field of a
manifest, and asks neither.
"""

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from syncret.config.visible import printable
from syncret.daemon.cli.columns import VERDICTS, Column, Row, print_table
from syncret.daemon.cli.daemon_client import Answer, CommandError, print_json, request_object
from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.terminal import Style, age, paint, print_text, time_until

COLUMNS: Final = (
    Column("REMOTE KEY", "flexible"),
    Column("PROPERTY", "flexible"),
    Column("ENTRY", "flexible"),
)
EVENTS: Final = (
    Column("SEEN"),
    Column("COUNT"),
    Column("TYPE", is_verdict=True),
    Column("REASON", "flexible"),
    Column("EVENT", "message"),
)
READY: Final = {"True": True, "False": False}


def run(options: Namespace) -> int:
    """Print the explanation."""
    if options.field is not None:
        from syncret.daemon.cli.field_help import explain_field  # reads the models, which takes a while

        return explain_field(options)
    try:
        answer = _answer(options)
    except CommandError as refusal:
        return refusal.report()
    if options.output == "json":
        print_json(answer)
        return OK
    place = f"{answer['namespace']}/" if answer["namespace"] else ""
    print_text(sys.stdout, printable(f"{answer['kind']} {place}{answer['name']}"))
    verdict = VERDICTS[READY.get(answer["ready"])]
    shown = paint(sys.stdout, verdict.text if answer["ready"] in READY else "unknown", verdict.style)
    print_text(sys.stdout, f"{shown}: {printable(_verdict_text(answer))}", *_label("ready"))
    for label, text in _facts(answer, time.time()):
        print_text(sys.stdout, printable(text), *_label(label))
    _print_keys(answer)
    _print_cluster(answer, time.time())
    return OK


def _answer(options: Namespace) -> Answer:
    """The document of the daemon, or that of the API server. Raises CommandError."""
    if options.kubernetes:
        from syncret.daemon.cli.cluster.explain import explanation  # libraries that other clients need not

        return explanation(options)
    return request_object(options, "GET", "/explain")


def _label(label: str) -> tuple[str, str]:
    """What the first line of a fact begins with, and what the others do."""
    return f"  {label:<7} ", " " * 10


def _verdict_text(answer: Answer) -> str:
    """Reason and message of the condition, without what the last error repeats."""
    reason, message, error = answer["reason"], answer["message"], answer["lastError"]
    if error is not None:
        words, colon, cause = message.partition(": ")
        if message == error["message"]:
            message = ""
        elif colon and error["message"].endswith(cause):
            message = words
    return ", ".join(part for part in (reason, message) if part)


def _facts(answer: Answer, now: float) -> Iterator[tuple[str, str]]:
    if answer["target"]:
        yield "target", answer["target"]
    if answer.get("manifest"):
        yield "from", answer["manifest"]
    if answer["goodSince"] is not None:
        yield "age", f"{age(answer['goodSince'], now)}, last known to be good at {answer['goodSince']}"
    error = answer["lastError"]
    if error is not None:
        yield "error", f"{age(error['at'], now)} ago: {error['message']}"
        if error.get("hint"):
            yield "remedy", error["hint"]
    attempt = answer["next"]
    when = time_until(attempt["at"], now, never="")
    yield "next", f"{when}: {attempt['why']}" if when else attempt["why"]
    for note in answer["notes"]:
        yield "note", note


def _print_keys(answer: Answer) -> None:
    """A table of the keys, and one of the steps, which all keys of an entry share."""
    keys: list[Answer] = answer["keys"]
    if not keys:
        return
    sys.stdout.write("\n")
    way = "TO" if answer["kind"] == "PushSecret" else "FROM"
    head = (Column("KEY", "flexible"), Column(way, "flexible"))
    print_table((*head, *COLUMNS), [Row(_cells(key)) for key in keys], full=True)
    steps = {key["field"]: ", then ".join(key["steps"]) for key in keys if key.get("steps")}
    if steps:
        sys.stdout.write("\n")
        print_table(
            (Column("ENTRY", "flexible"), Column("STEPS", "message")), map(Row, steps.items()), full=True
        )


def _print_cluster(answer: Answer, now: float) -> None:
    """What only the API server has: events, missing rights, and the command for the rest."""
    events: list[Answer] = answer.get("events", [])
    if events:
        sys.stdout.write("\n")
        rows = [
            Row(
                (
                    age(event["at"] or None, now),
                    str(event["count"]),
                    "Warning" if event["warning"] else "Normal",
                    event["reason"],
                    event["message"],
                ),
                style=Style.BAD if event["warning"] else Style.PLAIN,
            )
            for event in events
        ]
        print_table(EVENTS, rows, full=True)
    for problem in answer.get("problems", ()):
        sys.stdout.write("\n")
        print_text(sys.stdout, printable(f"{problem['file']}: {problem['severity']}: {problem['message']}"))
    process: Answer = answer.get("process", {})
    if process:
        sys.stdout.write("\n")
        note = f" ({process['note']})" if process["note"] else ""
        print_text(sys.stdout, printable(f"{process['unknown']}{note}:"))
        sys.stdout.write(f"  {printable(process['command'])}\n")


def _cells(key: Answer) -> tuple[str, ...]:
    remote = key.get("remoteKey", "") + (f"@{key['version']}" if key.get("version") else "")
    return key.get("key") or "*", key["source"], remote or "-", key.get("property") or "-", key["field"]
