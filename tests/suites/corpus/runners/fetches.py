"""Constraints on fetched values as scenarios for `syncret simulate`."""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import knows, list_in, object_in
from tests.suites.corpus.runners.scenarios import Translated, scenario
from tests.suites.corpus.runners.simulations import results

_KNOWN: Final = ("id", "note", "constraints", "annotation", "policy", "keys", "steps")
_WANT: Final = ("constraints", "ready", "live")
_NAME: Final = "checked"
_ENTRY: Final = "app"


def fetched(cases: Sequence[Case], folder: Path) -> Mapping[Case, list[Document] | str]:
    """What was reported after each step of every case, or why it did not run; one process runs them all."""
    files: dict[Path, Case] = {}
    for number, case in enumerate(cases):
        path = folder / f"fetch-{number:04}.json"
        path.write_text(json.dumps(translate(case, path.stem).document), encoding="utf-8")
        files[path] = case
    return {files[path]: steps for path, steps in results(list(files), folder).items()}


def translate(case: Case, name: str) -> Translated:
    """The scenario of a case."""
    body = case.body
    knows(body, _KNOWN, "case")
    steps: list[Document] = []
    for step in body["steps"]:
        knows(step, ("fetched", "want", "note"), "step")
        knows(step["want"], _WANT, "want")
        fails = step["fetched"] is None
        made: Document = {"advance": "15s", "apply": [] if fails else [_store(step["fetched"])]}
        if fails:
            made["faults"] = [{"operation": "read", "error": "no answer"}]
        steps.append(made)
    subject = _external_secret(body)
    steps[0]["apply"] = [*(steps[0]["apply"] or [_store({})]), subject]
    return Translated(subject, scenario(name, steps), ())


def _store(values: Json) -> Document:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"provider": {"fake": {"data": [{"key": _ENTRY, "value": json.dumps(values)}]}}},
    }


def _external_secret(body: Mapping[str, Json]) -> Document:
    carried: Json = body.get("annotation")
    if carried is None:
        carried = json.dumps({"keys": body["constraints"], "policy": body["policy"]})
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {
            "name": _NAME,
            "namespace": "default",
            "annotations": {"syncret.dev/constraints": carried},
        },
        "spec": {
            "refreshInterval": "10s",
            "secretStoreRef": {"name": "s"},
            "data": [
                {"secretKey": key, "remoteRef": {"key": _ENTRY, "property": key}} for key in body["keys"]
            ],
        },
    }


def mismatches(case: Case, steps: Sequence[Document]) -> Iterator[str]:
    """Everything that is not as the case wants it."""
    for number, (step, came) in enumerate(zip(case.body["steps"], steps, strict=True), 1):
        want: Document = step["want"]
        found = {f"{each['kind']}/{each['metadata']['name']}": each for each in came["objects"]}
        told = {
            each["type"]: each
            for each in list_in(object_in(found[f"ExternalSecret/{_NAME}"], "status"), "conditions")
        }
        for mismatch in _step(want, told, found.get(f"Secret/{_NAME}")):
            yield f"step {number}: {mismatch}"


def _step(want: Document, told: Mapping[str, Document], live: Document | None) -> Iterator[str]:
    wanted: Document = want["constraints"]
    constraints = told.get("ConstraintsSatisfied", {})
    for member in ("status", "reason"):
        if constraints.get(member) != wanted[member]:
            yield f"expected the {member} {wanted[member]} of the constraints; came {constraints}"
    for part in wanted.get("message", []):
        if part not in constraints.get("message", ""):
            yield f"expected {part} in the message; came {constraints}"
    ready = told.get("Ready", {})
    if ready.get("status") != want["ready"]:
        yield f"expected Ready {want['ready']}; came {ready}"
    data = None if live is None else {key: b64decode(text).decode() for key, text in live["data"].items()}
    if data != want["live"]:
        yield f"expected {want['live']} to be live; came {data}"
