"""Rehearses a sync: everything is read and decided, nothing is written, neither at home nor at a store."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from syncret.config.fields import Model
from syncret.config.meta import Document, ObjectRef
from syncret.providers.contract import (
    Client,
    Generated,
    Generator,
    OpenContext,
    Provider,
    PushItem,
    RemoteTarget,
)

Told = Callable[[str, ObjectRef, RemoteTarget], None]
"""Hears of each write that is held back: `push` or `delete`, the store, and where in it."""


class DryRunClient:
    """A client that reads as the real one does and writes nothing.

    It carries the real one's methods as attributes of its own: from Python 3.12 on, `isinstance` with a
    protocol does not see what `__getattr__` would answer.
    """

    def __init__(self, client: Client, store: ObjectRef, told: Told) -> None:
        self._store = store
        self._told = told
        for name in dir(client):
            if not name.startswith("_") and not hasattr(type(self), name):
                setattr(self, name, getattr(client, name))

    async def push(self, item: PushItem) -> None:
        """Tell, and do nothing."""
        self._told("push", self._store, RemoteTarget(item.remote_key, item.property))

    async def delete(self, target: RemoteTarget) -> None:
        """Tell, and do nothing."""
        self._told("delete", self._store, target)


def dry_run_provider(told: Told) -> Callable[[ObjectRef, Provider[Any]], Provider[Any]]:
    """Puts clients that hold writes back in the place of those of every store."""

    def substitute(store: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
        real = provider.open
        if real is None:
            return provider

        @asynccontextmanager
        async def held_back(spec: Model, context: OpenContext) -> AsyncGenerator[Client, None]:
            async with real(spec, context) as client:
                yield DryRunClient(client, store, told)

        return replace(provider, open=held_back)

    return substitute


def dry_run_generator(generator: Generator[Any]) -> Generator[Any]:
    """The generator, but what it makes elsewhere is removed at once, and what others made is left alone."""
    real, cleanup = generator.generate, generator.cleanup
    if real is None or cleanup is None:
        return generator

    async def generate(spec: Model, context: OpenContext) -> Generated:
        generated = await real(spec, context)
        if generated.state is not None:
            await cleanup(spec, generated.state, context)
        return Generated(generated.values)

    async def leave(_spec: Model, _state: Document, _context: OpenContext) -> None:
        """Tell nobody, and do nothing."""

    return replace(generator, generate=generate, cleanup=leave)
