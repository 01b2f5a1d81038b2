"""`syncret status`: the state of a running daemon, object by object."""

import sys
import time
from argparse import Namespace
from typing import Any, Final

from syncret.config.visible import printable
from syncret.daemon.cli.columns import VERDICTS, Column, Row, Verdict, print_table
from syncret.daemon.cli.daemon_client import Answer, CommandError, print_json, request
from syncret.daemon.cli.exit_codes import FAILED, OK
from syncret.daemon.cli.terminal import Style, age, print_text, span, time_until

COLUMNS: Final = (
    Column("KIND"),
    Column("NAMESPACE", "flexible", "middle"),
    Column("NAME", "flexible", "middle"),
    Column("READY", is_verdict=True),
    Column("AGE"),
    Column("NEXT"),
    Column("STATUS", "message"),
)
UNREACHABLE: Final = Verdict(0, "unreachable", Style.BAD)
"""Of a store that was ready when it was probed, and does not answer now."""
INVALID: Final = Verdict(0, "invalid", Style.BAD)
"""Of an object whose newest manifest has no effect; the last valid version is in force."""
MORE: Final = (Column("MANIFEST", "detail"), Column("REMEDY", "detail"))


def run(options: Namespace) -> int:
    """Print the table; exit 1 if an object is not ready."""
    try:
        answer = request(options, "GET", "/status")
    except CommandError as refusal:
        return refusal.report()
    for group in ("stores", "objects"):
        answer[group] = [each for each in answer[group] if _wanted(each, options)]
    if options.output == "json":
        print_json(answer)
    else:
        _print(answer, time.time(), options)
    is_failing = any(map(_fails, [*answer["stores"], *answer["objects"]]))
    if options.namespace is None:  # what names no object is in no namespace
        is_failing = is_failing or any(each["severity"] == "error" for each in answer["problems"])
    return FAILED if is_failing else OK


def _wanted(each: Answer, options: Namespace) -> bool:
    if options.namespace is not None and each["namespace"] != options.namespace:
        return False
    return not (options.failing and each["ready"] and not _fails(each))


def _fails(each: Answer) -> bool:
    """Whether something is wrong with an object or its manifest; one that waits for its first run is fine."""
    return each["ready"] is False or bool(
        each["lastFailure"] or each["unreachable"] or each["manifestProblem"]
    )


def _print(answer: Answer, now: float, options: Namespace) -> None:
    queue, wide = answer["queue"], options.output == "wide"
    print_text(
        sys.stdout,
        f"syncret {answer['version']}, up {span(answer['uptimeSeconds'])}, "
        f"{'ready' if answer['ready'] else 'in its first pass'}; "
        f"{queue['ready']} due, {queue['running']} running, {queue['scheduled']} scheduled, "
        f"{answer['failing']} failing",
    )
    everything = sorted([*answer["stores"], *answer["objects"]], key=lambda each: _verdict(each).rank)
    if everything:
        sys.stdout.write("\n")
        rows = [_row(each, now, wide=wide) for each in everything]
        print_table((*COLUMNS, *MORE) if wide else COLUMNS, rows, full=wide)
    elif options.namespace is not None or not answer["failing"]:
        what = "nothing is failing" if options.failing else "nothing"
        place = "" if options.namespace is None else f" in namespace {options.namespace}"
        if options.failing or place:
            sys.stdout.write("\n")
            print_text(sys.stdout, printable(what + place))
    for problem in answer["problems"]:
        place = f"{problem['file']}:{problem['line']}" if problem["line"] else problem["file"]
        hint = f" ({problem['hint']})" if problem.get("hint") else ""
        line = f"{place}: {problem['severity']}: {_text(problem)}{hint}"
        sys.stdout.write("\n")
        print_text(sys.stdout, printable(line))


def _text(problem: Answer) -> str:
    """Field and message of a problem of a manifest."""
    return f"{problem['path']}: {problem['message']}" if problem["path"] else str(problem["message"])


def _verdict(each: Answer) -> Verdict:
    """Whether the object is in order."""
    if each["ready"] and each["unreachable"]:
        return UNREACHABLE
    return INVALID if each["ready"] and each["manifestProblem"] else VERDICTS[each["ready"]]


def _row(each: dict[str, Any], now: float, *, wide: bool) -> Row:
    failure, unanswered = each["lastFailure"], each["unansweredSeconds"]
    server = f" from {each['unansweredBy']}" if each["unansweredBy"] else ""
    waits = "" if unanswered is None else f"no answer{server} for {span(unanswered)}"
    problem = each["manifestProblem"]
    invalid = "" if problem is None else f"its manifest is invalid: {_text(problem)}"
    default = "ready" if each["ready"] else "waiting"
    verdict = _verdict(each)
    cells = (
        each["kind"],
        each["namespace"] or "-",
        each["name"],
        verdict.text,
        age(each["lastGood"], now),
        time_until(each["nextDue"], now, never="on change"),
        failure["message"] if failure else invalid or waits or each["message"] or each["reason"] or default,
    )
    in_order = bool(each["ready"]) and not (waits or _fails(each))
    return Row(cells + (_more(each) if wide else ()), verdict.style, is_usual=in_order)


def _more(each: dict[str, Any]) -> tuple[str, ...]:
    """What only the wide table has."""
    failure: dict[str, Any] = each["lastFailure"] or each["manifestProblem"] or {}
    return each["manifest"] or "-", failure.get("hint") or "-"
