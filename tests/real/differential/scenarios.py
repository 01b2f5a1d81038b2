"""What is played to both: the cases of the corpus that release 0.20.4 of the operator knows, side by side."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object, member
from tests.suites.corpus.runners.cases import Case, corpus
from tests.suites.corpus.runners.comparing import is_list
from tests.suites.corpus.runners.scenarios import CLUSTER_SCOPED, translate

FILES: Final = ("externalsecret_cases.yaml", "pushsecret_cases.yaml")

LATER: Final[Mapping[str, str]] = {
    "unsafe-allow-generic-targets": "generic targets",
    "syncWindows": "sync windows",
    "CreateOrMerge": "the policy CreateOrMerge",
    "dataTo": "dataTo",
    "manifest": "targets of other kinds",
    "nullBytePolicy": "nullBytePolicy",
    "secretKeys": "passwords of several keys",
}
"""What the operator has learned since, by the word that tells it."""

DRAWN: Final = frozenset({"Password", "UUID", "SSHKey", "MFA"})
"""Generators whose values nobody can foresee."""


class Scenario(NamedTuple):
    """Commands, step by step, in names that no other scenario has."""

    id: str
    steps: Sequence[Document]
    namespaces: frozenset[str]
    names: frozenset[str]
    """Names of its cluster-wide objects."""
    is_drawn: bool
    """Whether values are drawn: then only their lengths can be equal."""


def scenarios() -> Iterator[Scenario]:
    """All that can be played to both."""
    for number, case in enumerate(cases()):
        if left_out(case) is None:
            yield _isolated(case, f"s{number:03}")


def left_out(case: Case) -> str | None:
    """Why a case is not played, if so."""
    text = json.dumps({name: value for name, value in case.body.items() if name not in {"note", "expect"}})
    found = next((what for word, what in LATER.items() if f'"{word}"' in text), None)
    if found is not None:
        return f"release 0.20.4 does not have {found}"
    if case.body.get("inject"):
        return "no provider of the operator's can be told to fail"
    if any(step["action"] in {"advance", "resync"} for step in case.body.get("steps") or ()):
        return "the operator's clock cannot be moved"
    if _selects_strangers(case.body):
        return "it selects namespaces of other scenarios, too"
    return None


def cases() -> Iterator[Case]:
    """All cases that tell of objects."""
    for case in corpus(None).cases:
        if case.file in FILES and case.waits_for is None:
            yield case


def _selects_strangers(body: Mapping[str, Json]) -> bool:
    resource = body.get("clusterExternalSecret") or body.get("clusterPushSecret")
    if resource is None:
        return False
    spec = resource["spec"]
    selectors = [spec.get("namespaceSelector"), *(spec.get("namespaceSelectors") or ())]
    return any(each is not None and not each.get("matchLabels") for each in selectors)


def _isolated(case: Case, mark: str) -> Scenario:
    translated = translate(case, mark)
    steps: Sequence[Document] = translated.document["spec"]["steps"]
    objects = [document for step in steps for document in step.get("apply", ())]
    names: set[str] = {
        document["metadata"]["name"] for document in objects if document["kind"] in CLUSTER_SCOPED
    }
    namespaces: set[str] = {
        "default",
        *(document["metadata"].get("namespace") or "default" for document in objects),
    }
    given: Mapping[str, Document] = case.body.get("namespaces") or {}
    labels = {str(value) for content in given.values() for value in member(content or {}, "labels").values()}
    names |= given.keys()
    # The operator's fake provider keeps what is pushed by the name of the store, for all namespaces.
    stores = {document["metadata"]["name"] for document in objects if document["kind"] == "SecretStore"}
    changed = {name: f"{name}-{mark}" for name in names | namespaces | labels | stores}
    renamed: Sequence[Document] = _renamed(steps, changed)
    return Scenario(
        f"{case.family}: {case.id}",
        [{name: step.get(name, ()) for name in ("apply", "patch", "delete")} for step in renamed],
        frozenset(changed[name] for name in namespaces | given.keys()),
        frozenset(changed[name] for name in names),
        any(_is_drawn(document) for document in objects),
    )


def _is_drawn(document: Document) -> bool:
    text = json.dumps(document)
    return any(f'"{kind}"' in text for kind in DRAWN)


def _renamed(value: Any, changed: Mapping[str, str]) -> Any:  # noqa: ANN401  # JSON
    """Every text that is one of these names, but no key and no text with more than the name."""
    if is_object(value):
        return {name: _renamed(member, changed) for name, member in value.items()}
    if is_list(value):
        return [_renamed(member, changed) for member in value]
    return changed.get(value, value) if isinstance(value, str) else value
