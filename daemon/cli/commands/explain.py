"""`syncret explain`: where each key of an object comes from, how old it is, and what happens next.

With `--field` it explains a field of a manifest instead, and asks no daemon.
"""

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from syncret.config.visible import printable
from syncret.daemon.cli.daemon_client import Answer, CommandError, print_json, request_object
from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.terminal import age, print_columns, time_until

HEAD: Final = ("REMOTE KEY", "PROPERTY", "AGE", "ENTRY", "STEPS")
READY: Final = {"True": "yes", "False": "no"}


def run(options: Namespace) -> int:
    """Print the explanation."""
    if options.field is not None:
        from syncret.daemon.cli.field_help import explain_field  # reads the models, which takes a while

        return explain_field(options)
    try:
        answer = request_object(options, "GET", "/explain")
    except CommandError as refusal:
        return refusal.report()
    if options.output == "json":
        print_json(answer)
        return OK
    now = time.time()
    place = f"{answer['namespace']}/" if answer["namespace"] else ""
    sys.stdout.write(f"{answer['kind']} {place}{answer['name']}\n")
    for label, text in _facts(answer, now):
        sys.stdout.write(f"  {label:<7} {printable(text)}\n")
    if answer["keys"]:
        sys.stdout.write("\n")
        way = "TO" if answer["kind"] == "PushSecret" else "FROM"
        print_columns(("KEY", way, *HEAD), [_row(key, answer, now) for key in answer["keys"]])
    return OK


def _facts(answer: Answer, now: float) -> Iterator[tuple[str, str]]:
    said = ", ".join(part for part in (answer["reason"], answer["message"]) if part)
    yield "ready", f"{READY.get(answer['ready'], 'unknown')}: {said}"
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


def _row(key: Answer, answer: Answer, now: float) -> tuple[str, ...]:
    remote = key.get("remoteKey", "") + (f"@{key['version']}" if key.get("version") else "")
    return (
        key.get("key") or "*",
        key["source"],
        remote or "-",
        key.get("property") or "-",
        age(answer["goodSince"], now),
        key["field"],
        ", then ".join(key.get("steps", ())) or "as it is",
    )
