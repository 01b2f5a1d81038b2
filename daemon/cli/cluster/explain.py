"""`syncret explain --kubernetes`: what the API knows of an object, and where to ask for the rest."""

import time
from argparse import Namespace
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from syncret.config.durations import format_duration
from syncret.config.manifests.references import Reference, references
from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import CONFIG_MAP, SECRET, is_shown, role_of
from syncret.config.settings import Settings
from syncret.daemon.cli.cluster.asking import ask, found, named, warnings
from syncret.daemon.cli.cluster.exports import explain_exports_of
from syncret.daemon.cli.cluster.knowledge import due, failures, last_error
from syncret.daemon.cli.cluster.pods import command_for
from syncret.daemon.cli.daemon_client import Answer
from syncret.daemon.core.explain.explain import Attempt, ExplainInput, explain
from syncret.daemon.core.plan.actions import LastError
from syncret.daemon.homes.contract import HomeError, StoredObject
from syncret.daemon.homes.kubernetes.user import ClusterEvent, NotAllowed, UserCluster

EVENTS: Final = 5
"""The newest ones."""

_READ_BY_NAME: Final = (SECRET.group_kind, CONFIG_MAP.group_kind)


def explanation(options: Namespace) -> Answer:
    """The document of `explain`, with events and rights that are missing. Raises CommandError."""

    async def work(cluster: UserCluster, settings: Settings) -> Answer:
        return await _explained(cluster, settings, await found(cluster, named(options, cluster)))

    return ask(options, work)


async def _explained(cluster: UserCluster, settings: Settings, stored: StoredObject) -> Answer:
    events = (await cluster.events(of=stored.ref)).get(stored.ref, ())
    if is_shown(stored.ref.group_kind):
        answer = _answer(stored, settings, events)
    else:  # of another operator
        answer = msgspec.to_builtins(await explain_exports_of(cluster, stored, events))
    notes = [note async for note in _notes(cluster, stored)]
    where = await command_for(cluster, settings, stored.ref)
    return {
        **answer,
        "notes": [*answer["notes"], *notes],
        "events": [msgspec.to_builtins(event) for event in events[:EVENTS]],
        "process": {"unknown": "queue, retries and budgets are known to the process alone", **where},
        "problems": warnings(cluster.denied),
    }


def _answer(stored: StoredObject, settings: Settings, events: Sequence[ClusterEvent]) -> Answer:
    error = last_error(stored, events)
    try:
        explanation = explain(stored.document, _known(stored, settings, events, error))
    except msgspec.ValidationError as malformed:
        return _malformed(stored, str(malformed))
    attempt = _attempt(stored, error, settings)
    if attempt is not None:
        explanation = msgspec.structs.replace(explanation, next=attempt)
    answer: Answer = msgspec.to_builtins(explanation)
    return answer


def _known(
    stored: StoredObject, settings: Settings, events: Sequence[ClusterEvent], error: LastError | None
) -> ExplainInput:
    now = time.time()
    controller = member(stored.document, "spec").get("controller")
    return ExplainInput(
        now=now,
        due=None if error is not None else due(stored, now, spread=settings.spread),
        failures=0 if error is None else failures(events),
        error=None if error is None else (error.at, error.message, error.hint),
        handled=not controller or controller == settings.controller_class,
        store_interval=settings.store_interval,
    )


def _attempt(stored: StoredObject, error: LastError | None, settings: Settings) -> Attempt | None:
    """What happens next, if only the daemon knows when; None if the API shows it."""
    if stored.document["metadata"].get("deletionTimestamp"):
        return None
    if role_of(stored.ref.group_kind) == "store":
        interval = member(stored.document, "spec").get("refreshInterval") or format_duration(
            settings.store_interval
        )
        return Attempt(at=None, in_seconds=None, why=f"checked every {interval}")
    if error is not None:
        return Attempt(
            at=None, in_seconds=None, why="another attempt, at a time that the process alone knows"
        )
    return None


def _malformed(stored: StoredObject, problem: str) -> Answer:
    """The explanation of an object that was stored before its CRD refused it."""
    _, kind, namespace, name = stored.ref
    return {
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "target": "",
        "keys": [],
        "notes": [],
        "ready": "Unknown",
        "reason": "",
        "message": f"it cannot be read: {problem}",
        "goodSince": None,
        "ageSeconds": None,
        "lastError": None,
        "next": {"at": None, "inSeconds": None, "why": "when it is corrected"},
    }


class _Store(NamedTuple):
    """A store that the object uses, and where it says so."""

    reference: Reference
    stored: StoredObject


async def _notes(cluster: UserCluster, stored: StoredObject) -> AsyncIterator[str]:
    """The class and the state of each store, and what is referred to and missing, credentials included."""
    asked: dict[ObjectRef, None] = {}
    stores: list[_Store] = []
    for reference in _once(references(stored.document), asked):
        try:
            async for note in _note(cluster, reference, stores):
                yield note
        except NotAllowed as error:
            cluster.note(error)
        except HomeError as error:
            yield f"{reference.target} ({reference.path}) cannot be read: {error}"
    for store in stores:
        for reference in _once(references(store.stored.document), asked):
            if await cluster.exists(reference.target) is False:
                yield f"{reference.target} is missing: {store.stored.ref} needs it ({reference.path})"


def _once(found: Iterable[Reference], asked: dict[ObjectRef, None]) -> Iterator[Reference]:
    for reference in found:
        if reference.target not in asked:
            asked[reference.target] = None
            yield reference


async def _note(cluster: UserCluster, reference: Reference, stores: list[_Store]) -> AsyncIterator[str]:
    path, target = reference
    if target.group_kind in _READ_BY_NAME:  # its content is of no interest: no value is read
        if await cluster.exists(target) is False:
            yield f"{target} is missing ({path})"
        return
    there = await cluster.get(target)
    if there is None:
        yield f"{target} is missing ({path})"
    elif role_of(target.group_kind) == "store":
        stores.append(_Store(reference, there))
        yield f"{target}: {_state(there.document)}"


def _state(store: Document) -> str:
    controller = member(store, "spec").get("controller")
    conditions: list[Document] = member(store, "status").get("conditions") or []
    ready = next((each for each in conditions if each.get("type") == "Ready"), Document())
    verdict = {"True": "ready", "False": f"not ready, {ready.get('message')}"}.get(
        str(ready.get("status")), "not looked at yet"
    )
    return f"{verdict}; class {controller}" if controller else f"{verdict}; of the default class"
