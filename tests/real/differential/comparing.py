"""What of the objects on both sides must be equal, and in which form."""

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from syncret.config.durations import parse_duration
from syncret.config.fields import Json
from syncret.config.meta import Document, is_object, member
from syncret.daemon.core.ownership import DATA_HASH
from syncret.daemon.homes.contract import StoredObject
from tests.real.differential.scenarios import Scenario
from tests.suites.corpus.runners.comparing import is_list

World: TypeAlias = Mapping[str, Document]
"""The objects of a scenario in a form that can be compared, by kind, namespace and name."""

SILENT: Final = ("ClusterExternalSecret", "ClusterPushSecret")
"""Kinds of which the operator tells nothing; we tell which namespaces failed."""

_METADATA: Final = ("labels", "annotations", "finalizers", "generateName")
_CLEANUP: Final = "externalsecrets.external-secrets.io/externalsecret-cleanup"
_STATE_LABEL: Final = "generators.external-secrets.io/owner-key"


class Snapshot:
    """All objects of one side at one moment."""

    def __init__(self, objects: Sequence[StoredObject]) -> None:
        self._names = {stored.uid: f"{stored.ref.kind}/{stored.ref.name}" for stored in objects}
        self._within: dict[str, list[StoredObject]] = {}
        self._events: dict[tuple[str, str], set[str]] = {}
        for stored in sorted(objects, key=lambda each: each.ref):
            if stored.ref.kind == "Event":
                self._take_event(stored.document)
                continue
            self._within.setdefault(stored.ref.namespace or f"/{stored.ref.name}", []).append(stored)

    def _take_event(self, event: Document) -> None:
        """Which events there were: neither how many, nor in which words."""
        about = event["involvedObject"]
        if about["kind"] in SILENT:
            return
        source = member(event, "source").get("component") or "nobody"
        told = f"{event['type']} {event['reason']} from {source}"
        place = about.get("namespace") or f"/{about['name']}"
        self._events.setdefault((place, f"{about['kind']}/{about['name']}"), set()).add(told)

    def world(self, scenario: Scenario) -> World:
        """The objects of a scenario."""
        found: dict[str, Document] = {}
        states = 0
        for place in (*sorted(scenario.namespaces), *(f"/{name}" for name in sorted(scenario.names))):
            for stored in self._within.get(place, ()):
                _, kind, namespace, name = stored.ref
                if kind == "GeneratorState":
                    states += 1
                    name = f"#{states}"
                found[f"{kind}/{namespace}/{name}"] = _comparable(
                    stored, self._names, is_drawn=scenario.is_drawn
                )
        for (place, about), told in self._events.items():
            if place in scenario.namespaces or place.removeprefix("/") in scenario.names:
                found[f"Events/{place}/{about}"] = dict.fromkeys(sorted(told), True)
        return found


def _comparable(stored: StoredObject, names: Mapping[str, str], *, is_drawn: bool) -> Document:
    document = stored.document
    metadata = document["metadata"]
    found: Document = {name: metadata[name] for name in _METADATA if metadata.get(name)}
    if stored.ref.kind == "ExternalSecret" and found.get("finalizers"):
        found["finalizers"] = [name for name in found["finalizers"] if name != _CLEANUP]
    found = {name: value for name, value in found.items() if value}
    found["isBeingDeleted"] = "deletionTimestamp" in metadata
    found["owners"] = [
        {**owner, "uid": names.get(owner["uid"], "unknown")} for owner in metadata.get("ownerReferences", ())
    ]
    match stored.ref.kind:
        case "Secret" | "ConfigMap":
            found |= _content(document, is_drawn=is_drawn)
            found["managers"] = _managers(metadata)
        case "Namespace" | "GeneratorState":
            pass
        case _:
            found["spec"] = _in_seconds(document.get("spec"))
            found["status"] = _status(member(document, "status"), metadata.get("generation", 0))
    if is_drawn:
        found["annotations"] = {
            name: value for name, value in found.get("annotations", {}).items() if name != DATA_HASH
        }
    return found


def _content(document: Document, *, is_drawn: bool) -> Document:
    data: Mapping[str, str] = document.get("data") or {}
    shown = {
        key: f"{len(b64decode(value))} bytes" if is_drawn and document["kind"] == "Secret" else value
        for key, value in data.items()
    }
    return {"data": shown, "type": document.get("type"), "immutable": document.get("immutable", False)}


def _managers(metadata: Document) -> Document:
    """Which fields are booked under which manager, but for those who wrote the test's commands."""
    found: Document = {}
    for entry in metadata.get("managedFields", ()):
        if entry["manager"] != "syncret":  # the author's; ours are named after the ExternalSecret
            found[f"{entry['manager']} {entry['operation']}"] = sorted(_paths(entry["fieldsV1"]))
    return found


def _paths(fields: Document, above: str = "") -> Iterator[str]:
    for name, below in fields.items():
        path = f"{above}/{re.sub(r'uid[^,}]*', 'uid', name)}"
        if below:
            yield from _paths(below, path)
        else:
            yield path


def _in_seconds(spec: Json) -> Json:
    """A spec with its interval as a number: the operator writes whole objects, and `1h` as `1h0m0s`."""
    if not is_object(spec):
        return spec
    found = {name: _in_seconds(value) for name, value in spec.items()}
    interval = found.get("refreshInterval")
    return {**found, "refreshInterval": parse_duration(interval)} if isinstance(interval, str) else found


def _status(status: Document, generation: int) -> Document:
    """A status without times: only whether there is one; of versions, whether it is the newest."""
    found: Document = {name: value for name, value in status.items() if value not in (None, {}, [])}
    if found.get("refreshTime"):
        found["refreshTime"] = "some time"
    synced = found.get("syncedResourceVersion")
    if synced:
        counted, _, digest = synced.partition("-")
        found["syncedResourceVersion"] = f"{'newest' if counted == str(generation) else counted}-{digest}"
    conditions = [
        {name: value for name, value in one.items() if name != "lastTransitionTime"}
        for one in found.pop("conditions", ())
        if one["type"] != "Reachable"
    ]
    if conditions:
        found["conditions"] = sorted(conditions, key=lambda one: str(one["type"]))
    for name in ("provisionedNamespaces", "failedNamespaces"):
        if name in found:
            found[name] = sorted(found[name], key=json.dumps)
    return found


def differences(theirs: World, ours: World) -> Iterator[str]:
    """What is not equal, in words: `path: theirs / ours`."""
    for name in sorted({*theirs, *ours}):
        if name not in ours:
            yield f"{name}: there / missing"
        elif name not in theirs:
            yield f"{name}: missing / there"
        else:
            yield from _differing(name, theirs[name], ours[name])


def _differing(path: str, theirs: Json, ours: Json) -> Iterator[str]:
    if is_object(theirs) and is_object(ours):
        for name in sorted({*theirs, *ours}):
            yield from _differing(f"{path}.{name}", theirs.get(name), ours.get(name))
    elif is_list(theirs) and is_list(ours) and len(theirs) == len(ours):
        for place, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from _differing(f"{path}[{place}]", one, other)
    elif path.endswith(".message") and isinstance(theirs, str) and str(ours or "").startswith(theirs):
        return
    elif (theirs or None) != (ours or None):
        yield f"{path}: {theirs!r} / {ours!r}"
