"""Finalizers: an object that must be cleaned up after is not let go before."""

from syncret.daemon.backends.contract import NotFound, Stored
from syncret.daemon.engine.reconcilers.world import World


async def ensure_finalizer(world: World, stored: Stored, finalizer: str) -> Stored:
    """The object with the finalizer on it; written only where it was missing."""
    document = stored.document
    finalizers = document["metadata"].get("finalizers") or []
    if finalizer in finalizers:
        return stored
    document["metadata"]["finalizers"] = [*finalizers, finalizer]
    return await _update(world, stored, document)


async def drop_finalizer(world: World, stored: Stored, finalizer: str) -> Stored:
    """The object without the finalizer; the last one of a deleted object lets it go."""
    document = stored.document
    finalizers = document["metadata"].get("finalizers") or []
    if finalizer not in finalizers:
        return stored
    document["metadata"]["finalizers"] = [kept for kept in finalizers if kept != finalizer]
    try:
        return await _update(world, stored, document)
    except NotFound:
        return stored


async def _update(world: World, stored: Stored, document: dict[str, object]) -> Stored:
    updated = await world.target.update(document)
    world.wrote(stored.ref, updated.resource_version, stored.ref)
    return updated
