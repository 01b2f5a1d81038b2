"""Cases of admission: the verdict on a manifest, by function and by command, against what is expected."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import is_object
from syncret.config.schema.admission import admit
from syncret.providers.registry import Registry
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.commands import run
from tests.suites.corpus.runners.comparing import Unknown, differences, knows

_KNOWN: Final = frozenset(
    {
        *("id", "note", "source", "uncertain", "manifest"),
        *("layer",),  # says which part of a cluster refuses; here they are one
        *("want", "error_hint", "warning_hint", "defaulted"),
    }
)


class Found(NamedTuple):
    """One problem of a manifest."""

    severity: str
    path: str
    message: str


class Verdict(NamedTuple):
    """What was said of a manifest: its problems, and the object as it would be stored."""

    problems: Sequence[Found]
    object: Mapping[str, Json] | None


def judged(case: Case, registry: Registry) -> Verdict:
    """The verdict of the function that everything that admits objects calls."""
    result = admit(case.body["manifest"], registry)
    problems = [Found(str(problem.severity), problem.path, problem.message) for problem in result.problems]
    if result.unknown_kind is not None:
        problems.append(Found("error", result.unknown_kind.path, result.unknown_kind.message))
    return Verdict(problems, result.document)


def validated(cases: Sequence[Case], folder: Path) -> dict[Case, Verdict | str]:
    """The verdicts of `syncret validate`, all cases in one call; a text where there is none.

    Each manifest is a file of its own and has a name of its own: two of one name are their author's mistake.
    """
    files: dict[str, int] = {}
    for number, case in enumerate(cases):
        path = folder / f"{number:04}.json"
        path.write_text(json.dumps(_renamed(case.body["manifest"], number)), encoding="utf-8")
        files[path.name] = number
    done = run("validate", "-f", str(folder), "-o", "json", "--show-values")
    outcomes: dict[int, Verdict | str] = {}
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return dict.fromkeys(cases, f"no report: exit code {done.returncode}, {done.stderr.strip()[-2000:]}")
    if (report.get("apiVersion"), report.get("kind")) != ("syncret.dev/v1alpha1", "ValidationReport"):
        return dict.fromkeys(cases, f"not a report: {report.get('apiVersion')} {report.get('kind')}")
    for item in report["items"]:
        problems = [Found(one["severity"], one["path"], one["message"]) for one in item["problems"]]
        outcomes[files[Path(item["file"]).name]] = Verdict(problems, item.get("object"))
    refused = any(
        found.severity == "error"
        for one in outcomes.values()
        if not isinstance(one, str)
        for found in one.problems
    )
    if done.returncode != (2 if refused else 0):
        return dict.fromkeys(cases, f"expected exit code {2 if refused else 0}; came {done.returncode}")
    return {case: outcomes.get(number, "the report has no item for it") for number, case in enumerate(cases)}


def _renamed(manifest: Mapping[str, Json], number: int) -> Mapping[str, Json]:
    metadata = manifest.get("metadata")
    if not is_object(metadata) or not isinstance(metadata.get("name"), str):
        return manifest
    return {**manifest, "metadata": {**metadata, "name": f"{metadata['name']}-{number}"}}


def mismatches(case: Case, verdict: Verdict) -> Iterator[str]:
    """What came that was not expected."""
    body = case.body
    knows(body, _KNOWN, "case")
    if body["want"] not in {"accept", "reject"}:
        raise Unknown(f"the runner does not know want: {body['want']}")
    errors = [found for found in verdict.problems if found.severity == "error"]
    warnings = [found for found in verdict.problems if found.severity == "warning"]
    came = "reject" if errors else "accept"
    if came != body["want"]:
        yield f"expected {body['want']}; came {came}: {_shown(verdict.problems)}"
    elif "error_hint" in body and not _hinted(body["error_hint"], errors):
        yield f"expected an error with {body['error_hint']!r}; came: {_shown(errors)}"
    if "warning_hint" in body and not _hinted(body["warning_hint"], warnings):
        yield f"expected a warning with {body['warning_hint']!r}; came: {_shown(warnings)}"
    if "defaulted" in body:
        yield from differences(body["defaulted"], verdict.object, "object")


def _hinted(hint: str, found: Sequence[Found]) -> bool:
    return any(hint in one.path or hint in one.message for one in found)


def _shown(found: Sequence[Found]) -> str:
    return "; ".join(f"{one.severity} at {one.path}: {one.message}" for one in found) or "nothing"
