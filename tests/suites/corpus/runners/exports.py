"""Cases of dynamic exports: by calls of the core, and through `syncret evaluate`."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, member
from syncret.daemon.core.exports.export import export
from syncret.providers.work import Work
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import knows, list_in, object_in

NAME: Final = "out"
KEY: Final = "k"
_ABOUT: Final = frozenset({"id", "note", "source", "verified", "beyond_aso"})
_INPUTS: Final = frozenset({"resource", "secrets", "expression", "kind", "for", "operatorSpec"})
_OUTCOMES: Final = frozenset({"want", "error", "class", "hint", "stage", "when", "hints", "also", "redact"})
_EXITS: Final = {"check": 2, "run": 1}
_KINDS: Final = {"Secret": "secrets", "ConfigMap": "configmaps"}


class Evaluated(NamedTuple):
    """What came: the report of `syncret evaluate -o json`, its exit code, and all that was printed."""

    report: Document
    code: int
    printed: str


class Printed(NamedTuple):
    """What a command left: its exit code, and what it wrote."""

    code: int
    out: str
    err: str


def called(case: Case, work: Work) -> Evaluated:
    """The case as a call of the core, and the report that the command would make of it."""
    resource = _resource(case)
    found = export(resource, case.body["secrets"], work)
    report: Document = {
        "hints": [*found.hints],
        "items": [made.as_document(resource) for made in found.made],
        "problems": [problem.as_document() for problem in found.problems],
    }
    stages = [problem.stage for problem in found.problems]
    code = 0 if not stages else 2 if "check" in stages else 1
    return Evaluated(report, code, repr(found.problems))


def commanded(case: Case, folder: Path, command: Callable[..., Printed]) -> Evaluated | str:
    """The case as a command, run with these arguments; a text if it printed no report."""
    (folder / "resource.json").write_text(json.dumps(_resource(case)), encoding="utf-8")
    (folder / "secrets.json").write_text(json.dumps(case.body["secrets"]), encoding="utf-8")
    flags = ("-f", str(folder / "resource.json"), "--secrets", str(folder / "secrets.json"), "-o", "json")
    done = command("evaluate", *flags, "--show-values")
    try:
        return Evaluated(json.loads(done.out), done.code, done.out + done.err)
    except ValueError:
        return f"exit code {done.code}: {done.err}"


def _resource(case: Case) -> Document:
    body = case.body
    resource: Document = dict(body["resource"])
    return {**resource, "spec": {**member(resource, "spec"), "operatorSpec": _operator_spec(body)}}


def _operator_spec(body: Mapping[str, Json]) -> Json:
    if "operatorSpec" in body:
        return body["operatorSpec"]
    is_text = body["kind"] == "value"
    entry = {"name": NAME, body["kind"]: body["expression"], **({"key": KEY} if is_text else {})}
    return {"dynamicSecrets" if body["for"] == "secret" else "dynamicConfigMaps": [entry]}


def mismatches(case: Case, came: Evaluated) -> Iterator[str]:
    """What came that was not expected."""
    body = case.body
    knows(body, _ABOUT | _INPUTS | _OUTCOMES, "case")
    yield from _outcome_mismatches(body, came)
    if not _by_other_outcome(body, came) and came.report["hints"] != body["hints"]:
        yield f"expected the hints {body['hints']}; came {came.report['hints']}"
    if "redact" in body and body["redact"] in came.printed:
        yield f"{body['redact']!r} was told: {came.printed}"


def _outcome_mismatches(body: Mapping[str, Json], came: Evaluated) -> Iterator[str]:
    problems: list[Document] = list_in(came.report, "problems")
    if problems and came.report["items"]:
        yield "there are problems, and objects all the same"
    if body.get("error") is True and problems:
        yield from _error_mismatches(body, came)
    elif not (_is_wanted(body, came) or _by_other_outcome(body, came)):
        expected = f"an error of the class {body['class']}" if "class" in body else repr(body["want"])
        yield f"expected {expected}; came {problems or _values(body, came.report)}"
    if not problems and came.code:
        yield f"there is no problem, and the exit code is {came.code}"


def _is_wanted(body: Mapping[str, Json], came: Evaluated) -> bool:
    return "want" in body and not came.report["problems"] and _values(body, came.report) == body["want"]


def _by_other_outcome(body: Mapping[str, Json], came: Evaluated) -> bool:
    """Whether it is the case's second outcome."""
    other = object_in(body, "also")
    if not other:
        return False
    failed = bool(came.report["problems"])
    return (
        failed if other.get("error") is True else not failed and _values(body, came.report) == other["want"]
    )


def _error_mismatches(body: Mapping[str, Json], came: Evaluated) -> Iterator[str]:
    problem: Document = came.report["problems"][0]
    also_accepted = "output_type" if body["class"] == "no_overload" else body["class"]
    if problem["class"] not in {body["class"], also_accepted}:
        yield f"expected an error of the class {body['class']}; came {problem}"
    stage: Json = body.get("stage", body.get("when"))
    if stage is not None and problem["stage"] != stage and body["class"] != "no_overload":
        yield f"expected it at {stage}; came {problem}"
    if body["hint"] not in problem["message"]:
        yield f"expected a message with {body['hint']!r}; came {problem['message']!r}"
    if came.code != _EXITS[problem["stage"]]:
        yield f"a problem at {problem['stage']} gave exit code {came.code}"


def _values(body: Mapping[str, Json], report: Document) -> Json:
    """What the objects hold, in the form of the case."""
    found: dict[str, dict[str, Json]] = {}
    for item in report["items"]:
        marks = ((name, member(item, "metadata", name)) for name in ("annotations", "labels"))
        content = {"data": _data(item), **{name: values for name, values in marks if values}}
        found.setdefault(_KINDS[item["kind"]], {})[item["metadata"]["name"]] = content
    if "operatorSpec" in body:
        return found
    data = found.get("secrets" if body["for"] == "secret" else "configmaps", {}).get(NAME, {}).get("data", {})
    return data.get(KEY) if body["kind"] == "value" else data


def _data(item: Document) -> dict[str, str]:
    values: dict[str, str] = item["data"]
    if item["kind"] == "ConfigMap":
        return values
    return {key: b64decode(value).decode() for key, value in values.items()}
