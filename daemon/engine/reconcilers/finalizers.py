"""Finalizers: an object does not go before it has been cleaned up after."""

import msgspec

from syncret.daemon.backends.contract import NotFound, Stored
from syncret.daemon.engine.reconcilers.world import World


class _Finalizers(msgspec.Struct):
    finalizers: tuple[str, ...] = ()


class _Head(msgspec.Struct):
    metadata: _Finalizers


async def ensure_finalizer(world: World, stored: Stored, finalizer: str) -> Stored:
    """The object with the finalizer on it; written only where it was missing."""
    finalizers = stored.as_type(_Head).metadata.finalizers
    if finalizer in finalizers:
        return stored
    return await _update(world, stored, [*finalizers, finalizer])


async def drop_finalizer(world: World, stored: Stored, finalizer: str) -> Stored:
    """The object without the finalizer; the last one of a deleted object lets it go."""
    finalizers = stored.as_type(_Head).metadata.finalizers
    if finalizer not in finalizers:
        return stored
    try:
        return await _update(world, stored, [kept for kept in finalizers if kept != finalizer])
    except NotFound:
        return stored


async def _update(world: World, stored: Stored, finalizers: list[str]) -> Stored:
    updated = await world.target.set_finalizers(stored, finalizers)
    world.wrote(stored.ref, updated.resource_version, stored.ref)
    return updated
