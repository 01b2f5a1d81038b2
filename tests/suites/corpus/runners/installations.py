"""Cases of the operator's two kinds: what a creation or an update is answered."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from syncret.config.meta import Document
from syncret.config.schema.admission import admit
from syncret.providers.registry import Registry
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.commands import run
from tests.suites.corpus.runners.comparing import Unknown, differences, knows, list_in
from tests.suites.corpus.runners.verdicts import Found, Verdict
from tests.support.servers.kube.running import Answer, KubeApi

_KNOWN: Final = frozenset(
    {
        *("id", "kind", "crd", "op", "manifest", "initial", "want", "hint", "defaulted", "note"),
        *("in_seed",),  # the age of the field: one schema has both
    }
)
GROUP: Final = "/apis/operator.openshift.io/v1alpha1"


def judged(case: Case, registry: Registry) -> Verdict:
    """The verdict of the function that everything that admits objects calls."""
    initial = case.body.get("initial")
    previous = None if initial is None else admit(initial, registry).document
    result = admit(case.body["manifest"], registry, previous)
    found = [Found(str(each.severity), each.path, each.message) for each in result.all_problems]
    return Verdict(found, result.document)


def commanded(case: Case, folder: Path) -> Verdict:
    """The verdict of `syncret validate` on a creation, and of `syncret simulate` on an update."""
    path = folder / "case.json"
    if "initial" not in case.body:
        path.write_text(json.dumps(case.body["manifest"]), encoding="utf-8")
        (item,) = _reported(["validate", "-f", str(path), "-o", "json"])["items"]
        return Verdict([_found(each) for each in item["problems"]], item.get("object"))
    steps = [{"apply": [case.body[name]]} for name in ("initial", "manifest")]
    head = {"apiVersion": "syncret.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "update"}}
    path.write_text(json.dumps({**head, "spec": {"steps": steps}}), encoding="utf-8")
    before, after = _reported(["simulate", str(path), "-o", "json"])["steps"]
    assert not before["rejected"], before
    problems = [_found(each) for refused in after["rejected"] for each in refused["problems"]]
    return Verdict(problems, after["objects"][0])


def answered(case: Case, api: KubeApi) -> Verdict:
    """The verdict of an API server that has the CRDs. Nothing stays there."""
    manifest = case.body["manifest"]
    path = f"{GROUP}/{case.body['crd'].lower()}s"
    if "initial" not in case.body:
        return _verdict(api.request("POST", f"{path}?dryRun=All", manifest))
    created = api.create(path, case.body["initial"])
    try:
        version = {"resourceVersion": created["metadata"]["resourceVersion"]}
        named = {**manifest, "metadata": {**manifest["metadata"], **version}}
        return _verdict(api.request("PUT", f"{path}/cluster?dryRun=All", named))
    finally:
        api.request("DELETE", f"{path}/cluster")


def mismatches(case: Case, verdict: Verdict) -> Iterator[str]:
    """What came that was not expected."""
    body = case.body
    knows(body, _KNOWN, "case")
    if body["want"] not in {"accept", "reject"} or (body["op"] == "update") != ("initial" in body):
        raise Unknown(f"the runner does not know want: {body['want']}, op: {body['op']}")
    errors = [each for each in verdict.problems if each.severity == "error"]
    shown = "; ".join(f"{each.path}: {each.message}" for each in errors) or "nothing"
    came = "reject" if errors else "accept"
    if came != body["want"]:
        yield f"expected {body['want']}; came {came}: {shown}"
    elif errors and not any(body.get("hint", "") in f"{each.path} {each.message}" for each in errors):
        yield f"expected an error with {body['hint']!r}; came: {shown}"
    if "defaulted" in body:
        yield from differences(body["defaulted"], verdict.object, "object")


def _reported(arguments: Sequence[str]) -> Document:
    done = run(*arguments)
    report: Document = json.loads(done.stdout)
    return report


def _found(problem: Mapping[str, str]) -> Found:
    return Found(problem["severity"], problem["path"], problem["message"])


def _verdict(answer: Answer) -> Verdict:
    if answer.status in {200, 201}:
        return Verdict([], answer.body)
    assert answer.status in {400, 422}, answer
    causes = [
        Found("error", cause.get("field", ""), cause["message"])
        for cause in list_in(answer.body, "details", "causes")
    ]
    return Verdict([*causes, Found("error", "", answer.body["message"])], None)
