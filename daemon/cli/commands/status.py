"""`syncret status`: the state of a running daemon or of a cluster, object by object."""

import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any, Final

from syncret.config.durations import span
from syncret.config.visible import printable
from syncret.daemon.cli.columns import VERDICTS, Column, Row, Verdict, print_table
from syncret.daemon.cli.daemon_client import Answer, CommandError, print_json, request
from syncret.daemon.cli.exit_codes import FAILED, OK
from syncret.daemon.cli.terminal import Style, age, cache_line, print_text, time_until

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
FIELDS: Final = (
    Column("RELEASE", "flexible", "middle"),
    Column("FIELD", "flexible", "middle"),
    Column("VARIANT"),
    Column("AGE"),
    Column("CONSTRAINTS", is_verdict=True),
    Column("FROM", "message"),
)
"""The sensitive fields of releases."""
MORE: Final = (Column("MANIFEST", "detail"), Column("REMEDY", "detail"))


def run(options: Namespace) -> int:
    """Print the table; exit 1 if an object is not ready."""
    try:
        answer = _answer(options)
        for group in ("stores", "objects"):
            answer[group] = [each for each in answer[group] if _wanted(each, options)]
        if "releases" in answer:  # a daemon's
            answer["releases"] = list(_releases(answer["releases"], options))
        _check_names(answer, options)
    except CommandError as refusal:
        return refusal.report()
    if options.output == "json":
        print_json(answer)
    else:
        _print(answer, time.time(), options)
    is_failing = any(map(_fails, [*answer["stores"], *answer["objects"]]))
    if options.namespace is None:  # what names no object is in no namespace
        is_failing = is_failing or any(each["severity"] == "error" for each in answer["problems"])
    return FAILED if is_failing else OK


def _answer(options: Namespace) -> Answer:
    """The document of the daemon, or of the cluster. Raises CommandError."""
    if options.kubernetes:
        from syncret.daemon.cli.cluster.status import status  # libraries that a daemon's client needs not

        return status(options)
    return request(options, "GET", "/status")


def _check_names(answer: Answer, options: Namespace) -> None:
    """Raise CommandError for a name that no object has; those that are in order may be left out."""
    if options.failing:
        return
    releases = ({**each, "kind": "Release"} for each in answer.get("releases", ()))
    shown = [*answer["stores"], *answer["objects"], *releases]
    for name in options.names:
        if not any(_is_named(each, name) for each in shown):
            hint = "is it in another namespace? see -n" if options.kubernetes else ""
            raise CommandError(f"there is no object {name}", hint=hint)


def _is_named(each: Answer, text: str) -> bool:
    kind, _, name = text.rpartition("/")
    return each["name"] == name and (not kind or kind.lower() in _words(each["kind"]))


def _words(kind: str) -> tuple[str, ...]:
    """What a kind may be called: to import the table of kinds would take longer than to ask the daemon."""
    word = kind.lower()
    return word, f"{word}s", "".join(filter(str.isupper, kind)).lower()


def _releases(releases: Sequence[Answer], options: Namespace) -> Iterator[Answer]:
    """The releases that are asked for; where failures are, with the fields that have one."""
    for each in releases:
        is_named = not options.names or any(
            _is_named({**each, "kind": "Release"}, name) for name in options.names
        )
        fields = [field for field in each["secrets"] if not options.failing or _is_violated(field)]
        if is_named and fields and options.namespace in {None, each["namespace"]}:
            yield {**each, "secrets": fields}


def _is_violated(field: Answer) -> bool:
    return bool(field["constraints"] == "violated")


def _wanted(each: Answer, options: Namespace) -> bool:
    if options.names and not any(_is_named(each, name) for name in options.names):
        return False
    if options.namespace is not None and each["namespace"] != options.namespace:
        return False
    return not (options.failing and each["ready"] and not _fails(each))


def _fails(each: Answer) -> bool:
    """Whether something is wrong with an object or its manifest; one that waits for its first run is fine."""
    return each["ready"] is False or bool(
        each["lastFailure"] or each["unreachable"] or each["manifestProblem"]
    )


def _print(answer: Answer, now: float, options: Namespace) -> None:
    wide = options.output == "wide"
    print_text(sys.stdout, printable(_head(answer)))
    if answer.get("observing"):
        held = sum(bool(each.get("wouldWrite")) for each in (*answer["stores"], *answer["objects"]))
        text = f"nothing is written: {answer['observing']}; {held} objects would have something written"
        print_text(sys.stdout, printable(text))
    if answer.get("cache"):
        print_text(sys.stdout, printable(cache_line(answer["cache"])))
    everything = sorted([*answer["stores"], *answer["objects"]], key=lambda each: _verdict(each).rank)
    if everything:
        sys.stdout.write("\n")
        rows = [_row(each, now, wide=wide, never=_never(each, answer)) for each in everything]
        print_table((*COLUMNS, *MORE) if wide else COLUMNS, rows, full=wide)
    elif options.namespace is not None or not answer["failing"]:
        what = "nothing is failing" if options.failing else "nothing"
        namespace = options.namespace or answer.get("namespace")
        place = f" in namespace {namespace}" if namespace else ""
        if options.kubernetes and namespace and options.namespace is None:
            place += " (-n names another, -A takes all)"
        if options.failing or place or options.kubernetes:
            sys.stdout.write("\n")
            print_text(sys.stdout, printable(what + place))
    _print_releases(answer.get("releases", ()), now)
    for problem in answer["problems"]:
        place = f"{problem['file']}:{problem['line']}" if problem["line"] else problem["file"]
        hint = f" ({problem['hint']})" if problem.get("hint") else ""
        line = f"{place}: {problem['severity']}: {_text(problem)}{hint}"
        sys.stdout.write("\n")
        print_text(sys.stdout, printable(line))


def _print_releases(releases: Sequence[Answer], now: float) -> None:
    """A table of the sensitive fields of releases, if there are any."""
    rows = [
        Row(
            (
                f"{release['namespace']}/{release['name']}",
                field["path"],
                field["variant"],
                age(field["lastGood"], now),
                field["constraints"],
                _origin(field["from"]),
            ),
            Style.BAD if _is_violated(field) else Style.PLAIN,
        )
        for release in releases
        for field in release["secrets"]
    ]
    if rows:
        sys.stdout.write("\n")
        print_table(FIELDS, rows, full=True)


def _origin(origin: Answer | None) -> str:
    """Where a value is from, on one line."""
    if origin is None:
        return "-"
    parts = (origin.get(name) for name in ("manifest", "store", "path", "remoteKey"))
    return " ".join(part for part in parts if part)


def _head(answer: Answer) -> str:
    if "queue" not in answer:
        context = f" (context {answer['context']})" if answer["context"] else ""
        place = f"namespace {answer['namespace']}" if answer["namespace"] else "all namespaces"
        return f"{answer['server']}{context}, {place}: {answer['failing']} failing"
    queue = answer["queue"]
    return (
        f"syncret {answer['version']}, up {span(answer['uptimeSeconds'])}, "
        f"{'ready' if answer['ready'] else 'in its first pass'}; "
        f"{queue['ready']} due, {queue['running']} running, {queue['scheduled']} scheduled, "
        f"{answer['failing']} failing"
    )


def _text(problem: Answer) -> str:
    """Field and message of a problem of a manifest."""
    return f"{problem['path']}: {problem['message']}" if problem["path"] else str(problem["message"])


def _verdict(each: Answer) -> Verdict:
    """Whether the object is in order."""
    if each["ready"] and each["unreachable"]:
        return UNREACHABLE
    return INVALID if each["ready"] and each["manifestProblem"] else VERDICTS[each["ready"]]


def _never(each: Answer, answer: Answer) -> str:
    """The text for an unknown time: the API does not show when stores and failed objects are tried again."""
    unknown = "queue" not in answer and (each["lastFailure"] or each in answer["stores"])
    return "-" if unknown else "on change"


def _row(each: dict[str, Any], now: float, *, wide: bool, never: str) -> Row:
    failure, unanswered = each["lastFailure"], each["unansweredSeconds"]
    server = f" from {each['unansweredBy']}" if each["unansweredBy"] else ""
    waits = "" if unanswered is None else f"no answer{server} for {span(unanswered)}"
    running = each.get("runningSeconds")
    runs = "" if running is None else f"its run has gone on for {span(running)}"
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
        time_until(each["nextDue"], now, never=never),
        failure["message"]
        if failure
        else invalid or waits or runs or _live(each, now) or each["message"] or each["reason"] or default,
    )
    in_order = bool(each["ready"]) and not (waits or _fails(each))
    return Row(cells + (_more(each) if wide else ()), verdict.style, is_usual=in_order)


def _live(each: Answer, now: float) -> str:
    """Of a Delivery that is in order: which set is live, since when, and how its reload went."""
    delivery = each.get("delivery")
    if not delivery or not each["ready"] or not delivery["generation"]:
        return ""
    result = {"success": "ok"}.get(delivery["result"], delivery["result"])
    parts = [each["reason"], f"gen {delivery['generation']}", f"{age(delivery['since'], now)} ago"]
    if result:
        parts.append(f"{delivery['reload']} {result} {delivery['took']}")
    return "  ".join(parts)


def _more(each: dict[str, Any]) -> tuple[str, ...]:
    """What only the wide table has."""
    failure: dict[str, Any] = each["lastFailure"] or each["manifestProblem"] or {}
    return each["manifest"] or "-", failure.get("hint") or "-"
