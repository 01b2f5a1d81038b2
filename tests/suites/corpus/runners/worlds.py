"""A case under way on a real API server: where it is there, and what is recorded of its steps."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_object
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.ownership import created_by
from syncret.daemon.core.plan.actions import Action
from syncret.daemon.engine.observer import Call, NullObserver, Operation
from syncret.daemon.simulate.simulation import StepRecorder
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import is_list
from tests.suites.corpus.runners.scenarios import CLUSTER_SCOPED, SETTLE, Translated

_numbers = count(1)


def manifests(steps: Sequence[Document]) -> Iterator[Document]:
    """All that is applied."""
    for step in steps:
        yield from step.get("apply", ())


def needs_the_server(case: Case, translated: Translated) -> bool:
    """Whether no other case may be played beside this one."""
    steps: Sequence[Document] = translated.document["spec"]["steps"]
    return (
        bool(case.body.get("namespaces"))
        or any(document["kind"] in CLUSTER_SCOPED for document in manifests(steps))
        or any(step["advance"] != SETTLE or not (step.keys() & _COMMANDS) for step in steps)
        or any(fault.get("store") for step in steps for fault in step.get("faults", ()))
        or any(name != "default" for name in _namespaces(case.body))
    )


_COMMANDS: Final = frozenset({"apply", "patch", "delete"})


def _namespaces(value: Json, *, within: str = "") -> Iterator[str]:
    """Every namespace that is named; one that is named other than as an object's own is `other`."""
    if is_object(value):
        for name, member in value.items():
            if name == "namespace" and isinstance(member, str):
                yield member if within in {"metadata", "pushed", "secret"} else "other"
            elif name not in {"note", "source"}:
                yield from _namespaces(member, within=name)
    elif is_list(value):
        for member in value:
            yield from _namespaces(member, within=within)


class World:
    """One case under way: its names on the server, and what was recorded of its steps."""

    def __init__(self, translated: Translated, *, alone: bool) -> None:
        self.translated = translated
        self.namespace = "default" if alone else f"corpus-{next(_numbers)}"
        self.recorder = StepRecorder()
        self.rejected: list[Document] = []
        self.results: list[Document] = []
        self.steps: Sequence[Document] = translated.document["spec"]["steps"]
        subject = translated.subject["metadata"]["name"]
        self._names = {
            created_by(self.namespace, subject): created_by("default", subject),
            self.namespace: "default",
        }

    def namespace_of(self, named: str) -> str:
        """Where an object is that the case has in this namespace."""
        return self.namespace if named == "default" else named

    def placed(self, document: Document) -> Document:
        """A document of the case as it is applied."""
        metadata = document["metadata"]
        if "namespace" not in metadata:
            return document
        return {
            **document,
            "metadata": {**metadata, "namespace": self.namespace_of(metadata["namespace"])},
        }

    def told(self, now: float, objects: Sequence[Document]) -> None:
        """A step is over: report it in the names of the case."""
        text = json.dumps(
            {
                "now": stamp(now),
                "objects": objects,
                "changes": self.recorder.changes,
                "writes": self.recorder.writes,
                "deletes": self.recorder.deletes,
                "reads": self.recorder.reads,
                "rejected": self.rejected,
            }
        )
        for name, meant in self._names.items():
            text = text.replace(name, meant)
        self.results.append(json.loads(text))


class Recorders(NullObserver):
    """Records for each world what happens in its namespace; for one that is alone, everything."""

    def __init__(self) -> None:
        self.worlds: Sequence[World] = ()
        self._nobody = StepRecorder()

    def _of(self, namespace: str) -> StepRecorder:
        if len(self.worlds) == 1:
            return self.worlds[0].recorder
        found = (world.recorder for world in self.worlds if world.namespace == namespace)
        return next(found, self._nobody)

    def applied(self, run: ObjectRef, action: Action) -> None:
        self._of(run.namespace).applied(run, action)

    def fault(self, operation: Operation, store: ObjectRef) -> str | None:
        """The error text of a call of that kind, if it fails now."""
        return self._of(store.namespace).fault(operation, store)

    def called(self, call: Call) -> None:
        self._of(call.namespace).called(call)
