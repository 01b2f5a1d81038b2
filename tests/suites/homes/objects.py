"""Small manifests for tests of homes, and what reads a watch."""

import asyncio
from contextlib import aclosing

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.daemon.homes.contract import Backend, Change, ChangeKind, Changes, Stored

START = 1767225600.0
"""2026-01-01T00:00:00Z"""

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


def owned_by(*owners: Stored) -> Document:
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


async def existing(backend: Backend, ref: ObjectRef) -> Stored:
    """The object, which has to be there."""
    stored = await backend.get(ref)
    assert stored is not None
    return stored


async def document_of(backend: Backend, ref: ObjectRef) -> Document:
    return (await existing(backend, ref)).document


async def take(watch: Changes, count: int) -> list[Change]:
    """The next changes."""
    async with asyncio.timeout(2):
        return [await anext(watch) for _ in range(count)]


async def replay(watch: Changes) -> list[Change]:
    """The changes up to SYNCED, which is left out."""
    changes: list[Change] = []
    async with asyncio.timeout(2):
        async for change in watch:
            if change.kind is ChangeKind.SYNCED:
                break
            changes.append(change)
    return changes


async def everything(cluster: Backend) -> dict[ObjectRef, Stored]:
    """All that a new watcher is told of."""
    async with aclosing(cluster.watch()) as watch:
        return {change.stored.ref: change.stored for change in await replay(watch) if change.stored}


def told(changes: list[Change]) -> list[str]:
    """Changes as `kind name`, of all but namespaces."""
    return [
        f"{change.kind} {change.stored.ref.name}"
        for change in changes
        if change.stored is not None and change.stored.ref.kind != "Namespace"
    ]
