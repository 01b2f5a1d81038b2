"""Small manifests for tests of homes, and what reads a watch."""

import asyncio
from contextlib import aclosing

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.daemon.homes.contract import Home, StoredObject, Watch, WatchEvent, WatchEventType

START = 1767225600.0
"""2026-01-01T00:00:00Z"""

LONGEST_WAIT = 60.0
"""Seconds in which every home has told what it has to tell; some of them live on virtual time."""

OURS = GroupKind("external-secrets.io", "ExternalSecret")
SECRET = GroupKind("", "Secret")
THING = GroupKind("example.com", "Thing")


def manifest(
    kind: GroupKind = OURS,
    name: str = "a",
    namespace: str = "default",
    *,
    meta: Document | None = None,
    **rest: object,
) -> Document:
    """A manifest of ours (the default), of a kind that nobody knows, or of the core group."""
    document: Document = {
        "apiVersion": f"{kind.group}/v1" if kind.group else "v1",
        "kind": kind.kind,
        "metadata": {"name": name, **(meta or {})},
    }
    if namespace:
        document["metadata"]["namespace"] = namespace
    if kind == OURS:
        document["spec"] = {"refreshInterval": "1h", "secretStoreRef": {"name": "store"}}
    return {**document, **rest}


def secret(name: str = "s", *, meta: Document | None = None, **rest: object) -> Document:
    return {**manifest(SECRET, name, meta=meta), **rest}


def ref(kind: GroupKind = OURS, name: str = "a", namespace: str = "default") -> ObjectRef:
    return ObjectRef(*kind, namespace, name)


def owned_by(*owners: StoredObject) -> Document:
    """Metadata that names the owners."""
    references = [
        {
            "apiVersion": f"{owner.ref.group}/v1".lstrip("/"),
            "kind": owner.ref.kind,
            "name": owner.ref.name,
            "uid": owner.uid,
        }
        for owner in owners
    ]
    return {"ownerReferences": references}


async def existing(backend: Home, ref: ObjectRef) -> StoredObject:
    """The object, which has to be there."""
    stored = await backend.get(ref)
    assert stored is not None
    return stored


async def document_of(backend: Home, ref: ObjectRef) -> Document:
    return (await existing(backend, ref)).document


async def take(watch: Watch, count: int) -> list[WatchEvent]:
    """The next changes of objects."""
    events: list[WatchEvent] = []
    async with asyncio.timeout(LONGEST_WAIT):
        while len(events) < count:
            event = await anext(watch)
            if event.object is not None:
                events.append(event)
    return events


async def replay(watch: Watch, home: Home, *kinds: GroupKind) -> list[WatchEvent]:
    """The events until every kind of the home (or these) is LISTED, without those that say so."""
    events: list[WatchEvent] = []
    missing = set(kinds or home.kinds())
    async with asyncio.timeout(LONGEST_WAIT):
        while missing:
            event = await anext(watch)
            if event.type is WatchEventType.LISTED:
                missing.discard(event.group_kind)
            else:
                events.append(event)
    return events


async def everything(cluster: Home) -> dict[ObjectRef, StoredObject]:
    """All that a new watcher is told of."""
    async with aclosing(cluster.watch()) as watch:
        return {change.object.ref: change.object for change in await replay(watch, cluster) if change.object}


def told(changes: list[WatchEvent]) -> list[str]:
    """Changes as `kind name`, of all but namespaces."""
    return [
        f"{change.type} {change.object.ref.name}"
        for change in changes
        if change.object is not None and change.object.ref.kind != "Namespace"
    ]
